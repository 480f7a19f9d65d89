"""What a package client is set to, and how it is asked: its own program, never in a project's folder."""

import asyncio
import base64
import netrc
import os
import shutil
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from midwatch.errors import Unavailable

PATIENCE = 30.0
LONGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class RegistrySource:
    """One registry: its address without a credential, and the credential as a header's value."""

    url: str
    authorization: str = field(default="", repr=False)

    @classmethod
    def of(cls, text: str) -> "RegistrySource":
        """Take the user and password out of an address."""
        parts = urlsplit(text.strip())
        plain = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        if parts.username is None:
            return cls(plain)
        return cls(plain, basic(unquote(parts.username), unquote(parts.password or "")))

    @property
    def host(self) -> str:
        return (urlsplit(self.url).hostname or "").lower()

    @property
    def port(self) -> int:
        parts = urlsplit(self.url)
        return parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def secure(self) -> bool:
        return self.url.startswith("https:")

    @property
    def folder(self) -> str:
        """Return the folder that holds index and packages."""
        return _with_packages(urlsplit(self.url).path.rstrip("/")) + "/"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return every text that would give the credential away."""
        kind, _, value = self.authorization.rpartition(" ")
        if kind != "Basic":
            return (value,)
        try:
            return (value, base64.b64decode(value).decode().partition(":")[2])
        except ValueError:
            return (value,)


@dataclass(frozen=True, slots=True)
class DownloadHost:
    """A host that is on no list and in no setting: a registry's own page names it for downloads."""

    host: str
    port: int
    named_by: tuple[tuple[str, int], ...]
    """Host and port of each registry that names it."""


@dataclass(frozen=True, slots=True)
class ClientRegistries:
    """What one client of this machine is set to."""

    client: str
    sources: tuple[RegistrySource, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Tells the same client inside a sandbox; without credentials."""
    folders: tuple[Path, ...] = ()
    """Packages in folders of this machine."""
    certificates: tuple[str, ...] = ()
    """Files of certificate authorities that the client trusts."""
    downloads: tuple[DownloadHost | RegistrySource, ...] = ()
    """From where else the registries themselves say that packages are downloaded; also from a folder of their own."""
    settings: str = ""
    """What it reads from a file of its own only; without credentials."""

    def with_logins(self) -> "ClientRegistries":
        """Add the credentials of ~/.netrc, which pip, uv and go read."""
        return replace(self, sources=tuple(_by_netrc(one) for one in self.sources))


def _with_packages(path: str) -> str:
    """A Python index is a folder beside its packages."""
    above, _, last = path.rpartition("/")
    return above if last in {"simple", "+simple"} else path


def basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def sources_in(urls: Iterable[str]) -> tuple[tuple[RegistrySource, ...], tuple[Path, ...]]:
    """Tell registries on the web from packages in folders."""
    sources, folders = [], []
    for url in urls:
        if url.startswith(("https://", "http://")):
            sources.append(RegistrySource.of(url))
        elif (path := Path(url.removeprefix("file://")).expanduser()).is_absolute() and path.exists():
            folders.append(Path(_with_packages(str(path))))
    return tuple(sources), tuple(folders)


def surroundings() -> Mapping[str, str]:
    """Return the variables that the person's own clients read too."""
    return os.environ  # noqa: TID251  they are settings of other programs, not of ours


async def ask(*words: str, extra: Mapping[str, str] | None = None, cwd: str = "/") -> str:
    """Run a client and return what it says, on both of its streams; empty where it is not installed or fails to end."""
    program = shutil.which(words[0])
    if program is None or not Path(program).is_absolute():
        return ""
    process = await asyncio.create_subprocess_exec(  # noqa: TID251  the person's own client, asked about its own settings
        program,
        *words[1:],
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=cwd,
        env={**surroundings(), **(extra or {})},
    )
    try:
        async with asyncio.timeout(PATIENCE):
            said, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return ""
    return said[:LONGEST].decode(errors="replace")


def toml_in(path: Path) -> dict[str, Any]:
    """Read a client's own file; one that is missing or broken says nothing."""
    try:
        return tomllib.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def unknown(client: str) -> Unavailable:
    return Unavailable(
        f"{client} is allowed to read its registries, but {client} on this machine does not say which these are.",
        hint=f"Install {client} here, or list the hosts themselves instead of {client}.",
    )


def _by_netrc(source: RegistrySource) -> RegistrySource:
    if source.authorization:
        return source
    try:
        found = netrc.netrc(surroundings().get("NETRC")).authenticators(source.host)
    except (OSError, netrc.NetrcParseError):
        return source
    return replace(source, authorization=basic(found[0], found[2] or "")) if found else source
