"""What a sandbox gets so that package clients inside it can read their registries: hosts, variables, certificates."""

import asyncio
import shutil
import ssl
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from midwatch.errors import MidwatchError, Unavailable
from midwatch.gateway.egress import HeaderSource, RegistryAuthority, RegistryHost
from midwatch.gateway.registries.book import RegistryBook
from midwatch.gateway.registries.client import ClientRegistries, DownloadHost, RegistrySource, surroundings
from midwatch.ports.clock import Clock
from midwatch.rules.budget.egress import CLIENTS, fault_in

BUNDLE: Final = "registries.pem"
SETTINGS, VARIABLE = "registries-{client}.toml", "MIDWATCH_{client}_SETTINGS"
"""What a client reads from a file only, and the variable that names the file inside."""
_BUNDLES: Final = tuple(
    Path(name)
    for name in (
        *("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"),
        *("/etc/ssl/cert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"),
    )
)
_TRUST: Final = (
    *("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT"),
    *("NODE_EXTRA_CA_CERTS", "NPM_CONFIG_CAFILE", "CARGO_HTTP_CAINFO", "DENO_CERT"),
)
"""Variables by which programs find the certificates they trust."""


@dataclass(frozen=True, slots=True)
class Inside:
    """What one sandbox gets."""

    hosts: tuple[RegistryHost, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    lent: tuple[Path, ...] = ()
    identity: ssl.SSLContext | None = None
    trust: ssl.SSLContext | None = None
    """Whom the proxy trusts outside, where a client has certificates of its own."""


class RegistryAccess:
    """Prepares what sandboxes need to read the registries of named clients."""

    def __init__(self, book: RegistryBook, key: bytes, home: Path, clock: Clock) -> None:
        self._book = book
        self._authority = RegistryAuthority(key)
        self._home = home
        self._bundle = home / BUNDLE
        self._clock = clock

    async def for_clients(self, clients: tuple[str, ...]) -> Inside:
        """Ask each client that is here, and allow exactly what it is set to."""
        asked = [one for client in clients if (one := await self._asked(client))]
        hosts = tuple(host for one in asked for host in hosts_of(one))
        environment = {name: value for one in asked for name, value in one.environment.items()}
        folders = tuple(dict.fromkeys(folder for one in asked for folder in one.folders))
        for one in asked:
            if one.settings:
                file = self._home / SETTINGS.format(client=one.client)
                await asyncio.to_thread(_write, file, one.settings.encode())
                environment[VARIABLE.format(client=one.client.upper())] = str(file)
                folders += (file,)
        if not any(host.secure for host in hosts):
            return Inside(hosts, environment, folders)
        certificates = tuple(dict.fromkeys(file for one in asked for file in one.certificates))
        await asyncio.to_thread(self._write_bundle, certificates)
        return Inside(
            hosts=hosts,
            environment={**environment, **dict.fromkeys(_TRUST, str(self._bundle))},
            lent=(self._bundle, *folders),
            identity=self._authority.identity((host.host for host in hosts if host.secure), self._clock.now()),
            trust=await asyncio.to_thread(trusting, certificates),
        )

    async def _asked(self, client: str) -> ClientRegistries | None:
        """Ask one client; one that is not installed allows nothing, and a command that needs it says so itself."""
        try:
            return await self._book.of(client)
        except Unavailable:
            if shutil.which(client):
                raise
            return None

    def forget(self, clients: Iterable[str]) -> None:
        """Ask these clients again the next time."""
        self._book.forget(clients)

    async def owners(self, hosts: Collection[str], first: Collection[str] = ()) -> dict[str, str]:
        """Return which client each of these hosts is a registry of; no client is asked once all are known."""
        found: dict[str, str] = {}
        for client in sorted(CLIENTS, key=lambda one: one not in first):
            if found.keys() >= set(hosts):
                break
            try:
                asked = await self._book.of(client)
            except MidwatchError:
                continue
            for host in hosts_of(asked):
                found.setdefault(host.host, client)
        return found

    def _write_bundle(self, certificates: tuple[str, ...]) -> None:
        """Write whom programs inside trust: whom this machine trusts, and our certificates for registries."""
        named = surroundings().get("SSL_CERT_FILE", "")
        places = (*((Path(named),) if named else ()), *_BUNDLES)
        files = [*(place for place in places if place.is_file())][:1] + [Path(file) for file in certificates]
        texts = [file.read_bytes().rstrip() for file in dict.fromkeys(files) if file.is_file()]
        _write(self._bundle, b"\n".join([*texts, self._authority.pem]))


def _write(file: Path, content: bytes) -> None:
    fresh = file.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    fresh.touch(mode=0o600)
    fresh.write_bytes(content)
    fresh.rename(file)


def hosts_of(asked: ClientRegistries) -> tuple[RegistryHost, ...]:
    """Return the hosts that a client may read; one without a plain name cannot be reached from a sandbox."""
    own = tuple(
        RegistryHost(asked.client, one.host, one.port, one.secure, one.folder, headers_of(one))
        for one in (*asked.sources, *(one for one in asked.downloads if isinstance(one, RegistrySource)))
        if not fault_in(one.host)
    )
    further = tuple(
        RegistryHost(asked.client, one.host, one.port, named_by=one.named_by)
        for one in asked.downloads
        if isinstance(one, DownloadHost) and not fault_in(one.host)
    )
    return own + further


def headers_of(source: RegistrySource) -> HeaderSource:
    async def headers() -> Mapping[str, str]:
        return {"Authorization": source.authorization} if source.authorization else {}

    return headers


def trusting(certificates: tuple[str, ...]) -> ssl.SSLContext:
    """Trust whom this machine trusts, and whom its clients trust besides."""
    trust = ssl.create_default_context()
    for file in certificates:
        trust.load_verify_locations(file)
    return trust
