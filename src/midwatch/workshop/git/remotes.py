"""Where a project comes from: a folder or a URL, which transports git may use, and what their refusals mean."""

import ipaddress
import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from midwatch.errors import Broken, Locked, MidwatchError, Misuse, Refused, Unavailable
from midwatch.terms.projects import HELPER, SCHEME
from midwatch.terms.projects import is_url as looks_like_url

SAFE = ("file", "https", "ssh")
OPEN = ("http", "git")
"""Anyone on the network path can change what they carry, so they are for this machine only."""

# BatchMode asks nothing; strict checking refuses a host whose key was never confirmed.
SSH = (
    "ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oConnectTimeout=20 -oClearAllForwardings=yes "
    "-oPermitLocalCommand=no -oForwardAgent=no"
)


@dataclass(frozen=True, slots=True)
class Way:
    """The settings git needs to reach one source."""

    settings: tuple[tuple[str, str], ...] = ()
    surroundings: tuple[tuple[str, str], ...] = ()


def is_url(source: Path | str) -> bool:
    """Distinguish a URL (or `user@host:path`) from a folder."""
    return isinstance(source, str) and looks_like_url(source)


def checked(source: Path | str) -> str:
    """Return what git may get for this source, or raise Misuse."""
    if not is_url(source):
        return str(source)
    text = str(source)
    if any(ord(letter) <= 32 or ord(letter) == 127 for letter in text):
        raise Misuse(f"{text!r} is not a URL.", hint="Write it without spaces or line ends.")
    scheme, parts = _scheme(text)
    if scheme not in (*SAFE, *OPEN):
        raise Misuse(f"{scheme}: is not a way to fetch a repository.", hint="Use https, ssh or a path.")
    if parts.password is not None or (scheme != "ssh" and parts.username):
        raise Misuse("The URL holds a name or password.", hint="Take it out; use ssh with a key for private ones.")
    if scheme in OPEN and not _is_this_machine(parts.hostname or ""):
        raise Misuse(f"{scheme}:// is not protected on its way.", hint="Use https or ssh.")
    if (parts.hostname or "").startswith("-") or (scheme != "file" and not parts.hostname):
        raise Misuse(f"{text!r} names no host.", hint="Check the URL.")
    return text


def _scheme(text: str) -> tuple[str, SplitResult]:
    if helper := HELPER.match(text):
        return helper.group()[:-2].casefold() + ":", urlsplit("")
    if not SCHEME.match(text):
        return "ssh", urlsplit(f"ssh://{text.replace(':', '/', 1)}")
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise Misuse(f"{text!r} is not a URL: {error}.", hint="Check its host and port.") from None
    return parts.scheme.casefold(), parts


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def way_to(source: Path | str) -> Way:
    """Return the settings that let git reach this source and nothing else."""
    if not is_url(source):
        return Way()
    scheme, _ = _scheme(checked(source))
    settings = [("protocol.file.allow", "never"), (f"protocol.{scheme}.allow", "always")]
    surroundings: list[tuple[str, str]] = []
    if scheme == "ssh":
        settings.append(("core.sshCommand", SSH))
        # The keys of the person who runs the server; nothing else of their environment is passed.
        surroundings += [("SSH_AUTH_SOCK", agent)] if (agent := os.environ.get("SSH_AUTH_SOCK", "")) else []
    if scheme in ("http", "https"):
        settings += [("http.lowSpeedLimit", "500"), ("http.lowSpeedTime", "60"), ("http.sslVerify", "true")]
    return Way(tuple(settings), tuple(surroundings))


_SIGNS: tuple[tuple[str, type[MidwatchError], str, str], ...] = (
    (
        "host key verification failed|no matching host key|remote host identification has changed",
        Refused,
        "that host's key is not confirmed",
        "Run `ssh {host}` once as the server's user and compare the key it shows.",
    ),
    (
        "certificate|ssl|tls|gnutls",
        Refused,
        "its TLS certificate was not accepted",
        "Check the host's certificate and this machine's clock; Midwatch never skips the check.",
    ),
    (
        "could not resolve|connect to|connection re|timed out|unreachable|no route|unable to connect",
        Unavailable,
        "it cannot be reached",
        "Check the address and the network, then try again.",
    ),
    (
        "authentication failed",
        Locked,
        "it refused the credential",
        "Renew the token that [forges] names for {host}.",
    ),
    (
        "not found|returned error: 4|could not read username|permission denied|access denied|not appear|not exist",
        Refused,
        "there is no such repository, or it may not be read",
        "Check the URL with `git ls-remote {url}` as the server's user.",
    ),
    (
        "mismatched algorithms|object format|sha256",
        Refused,
        "it uses SHA-256 object names",
        "Only SHA-1 repositories are supported so far.",
    ),
)


def failure(source: Path | str, complaints: str) -> MidwatchError:
    """Turn git's message about a source into one sentence and what to do."""
    host = urlsplit(str(source)).hostname or str(source).partition(":")[0]
    # A host may be called ssl.example; only git's own words count.
    words = complaints.replace(str(source), "").replace(host or "\0", "")
    for signs, kind, what, hint in _SIGNS:
        if re.search(signs, words, re.IGNORECASE | re.MULTILINE):
            return kind(
                f"{source} was not read: {what}.",
                hint=hint.format(host=host, url=shlex.quote(str(source))),
                because=tuple(complaints.strip().splitlines()[-3:]),
            )
    last = (complaints.strip().splitlines() or ["git gave no reason"])[-1]
    return Broken(f"{source} was not read: {last}", hint=f"Try `git ls-remote {shlex.quote(str(source))}`.")
