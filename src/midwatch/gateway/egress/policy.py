"""What one job may do on the network: hosts, routes, caps and deadlines, fixed when its epoch begins."""

import re
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from midwatch.errors import Misuse
from midwatch.rules.budget.egress import HostRule, canonical, fault_in, port_in, shown

HeaderSource = Callable[[], Awaitable[Mapping[str, str]]]
"""Returns the headers that carry a credential, at the moment they are needed."""

INSIDE: Final = ".midwatch.internal"
"""Names of routes end with this: they exist only inside the sandbox."""

_UPSTREAM: Final = re.compile(r"(https?)://([^/:?#]+)(?::([0-9]+))?(/[A-Za-z0-9._~/@%+-]*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class EgressCaps:
    """How much one job may use the network."""

    requests: int = 1_000
    bytes_out: int = 50_000_000
    """From the job to the internet: what could leak."""
    bytes_in: int = 1_000_000_000
    """From the internet to the job."""
    at_once: int = 100
    """Further connections wait until one ends."""
    refusals: int = 500
    """Refusals beyond these are only counted: a job that keeps retrying must not flood the journal."""


@dataclass(frozen=True, slots=True)
class EgressDeadlines:
    """Seconds for each part as a whole: a time-out per read never fires on a slow drip."""

    head: float = 60
    """For what comes from the sandbox: on a busy machine a program may not run for many seconds."""
    hello: float = 60
    resolve: float = 10
    dial: float = 10
    idle: float = 120
    whole: float = 3_600
    linger: float = 2


async def no_headers() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class RegistryRoute:
    """A name inside the sandbox for a registry outside, with the credential added outside.

    Only reading methods unless named: a credential must not become a way to publish.
    """

    name: str
    """Such as pip.midwatch.internal, requested by plain http."""
    upstream: str
    """Such as https://packages.example.org/team/."""
    headers: HeaderSource = no_headers
    methods: frozenset[str] = frozenset({"GET", "HEAD"})
    own_network: bool = False
    """Whether the registry may have a private address."""

    def __post_init__(self) -> None:
        found = _UPSTREAM.fullmatch(self.upstream)
        if found is None or fault_in(found[2]) or (found[3] and port_in(found[3]) is None):
            raise Misuse(
                f"{shown(self.upstream)} cannot be the upstream of a route.",
                hint="Write https://host/path/, with a host name and without a query.",
            )
        if fault_in(self.name) or (not self.name.endswith(INSIDE) and self.name != self.host):
            raise Misuse(
                f"{shown(self.name)} cannot be the name of a route.",
                hint=f"Take a lower-case name that ends in {INSIDE}, or the host itself.",
            )
        if self.name == self.host and self.secure:
            raise Misuse(
                f"The route {self.name} would have to open TLS, which is never done.",
                hint=f"Give the route its own name that ends in {INSIDE}.",
            )

    @property
    def secure(self) -> bool:
        """Whether the remote host is reached by TLS."""
        return self.upstream.startswith("https:")

    @property
    def host(self) -> str:
        return canonical(self._parts[2])

    @property
    def port(self) -> int:
        """Return the port of the remote host."""
        return int(self._parts[3] or (443 if self.secure else 80))

    @property
    def local_port(self) -> int:
        """Return the port the job connects to: a route with its own name uses plain http."""
        return self.port if self.name == self.host else 80

    @property
    def path(self) -> str:
        """Return the remote host's folder, with a slash at its end."""
        return (self._parts[4] or "/").rstrip("/") + "/"

    @property
    def _parts(self) -> re.Match[str]:
        found = _UPSTREAM.fullmatch(self.upstream)
        if found is None:  # pragma: no cover - __post_init__ has checked it
            raise Misuse(f"{shown(self.upstream)} cannot be the upstream of a route.")
        return found


@dataclass(frozen=True, slots=True)
class RegistryHost:
    """A host that a package client of this machine downloads from: under its own name, for reading only."""

    client: str
    """The client that is set to it, such as pip."""
    host: str
    port: int
    secure: bool = True
    folder: str = "/"
    """The credential is added below this folder only: the host may serve other things that it would open."""
    headers: HeaderSource = no_headers
    named_by: tuple[tuple[str, int], ...] = ()
    """The registries whose own pages name this host for downloads; empty for one that the client itself is set to."""

    @property
    def authority(self) -> str:
        """Return the host as a Host field names it."""
        return self.host if self.port == (443 if self.secure else 80) else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """Everything that limits one job epoch on the network."""

    rules: tuple[HostRule, ...] = ()
    routes: tuple[RegistryRoute, ...] = ()
    caps: EgressCaps = EgressCaps()
    deadlines: EgressDeadlines = EgressDeadlines()
    registries: tuple[RegistryHost, ...] = ()
    identity: ssl.SSLContext | None = None
    """What the job sees as the certificate of a registry's host; without it only plain http ones can be read."""

    def route(self, host: str, port: int) -> RegistryRoute | None:
        name = canonical(host) if not fault_in(host) else ""
        return next((one for one in self.routes if one.name == name and port == one.local_port), None)

    def registry(self, host: str, port: int, path: str = "/") -> RegistryHost | None:
        """Find the registry on a host and port; of several, the one whose folder holds the path."""
        name = canonical(host) if not fault_in(host) else ""
        here = [one for one in self.registries if one.host == name and one.port == port]
        below = [one for one in here if path.startswith(one.folder)]
        return max(below, key=lambda one: len(one.folder), default=here[0] if here else None)
