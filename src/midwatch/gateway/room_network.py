"""The network of each sandbox: an egress proxy, and a model proxy where it may use one; everything is recorded."""

import asyncio
import base64
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Final

from midwatch.errors import Misuse
from midwatch.gateway.egress import (
    ConnectionRecord,
    EgressCaps,
    EgressPolicy,
    EgressProxy,
    HeaderSource,
    RegistryRoute,
    Resolver,
)
from midwatch.gateway.egress.policy import INSIDE, no_headers
from midwatch.gateway.metering.environment import address
from midwatch.gateway.model_access import ModelProxies, ModelProxyServer
from midwatch.gateway.registries import Inside, RegistryAccess
from midwatch.gateway.vault import Vault
from midwatch.journal.events.workshop import ConnectionSeen
from midwatch.ports.journal import Journal
from midwatch.ports.network import HostRefused, NetworkReach
from midwatch.rules.budget.egress import RefusalRounds, another_refusal, clients_in, fault_in, only_repeats, rules_of
from midwatch.terms.agents import Met

PORT: Final = 8118
"""Port of the egress proxy inside the sandbox; every sandbox has its own network."""
REGISTRY: Final = re.compile(r"([a-z][a-z0-9-]{0,30})=(https?://[^#\s]+)(?:#(bearer|basic):([A-Za-z0-9_-]+))?")
QUICK_RETRIES: Final = {
    "NPM_CONFIG_FETCH_RETRY_MINTIMEOUT": "1000",
    "NPM_CONFIG_FETCH_RETRY_MAXTIMEOUT": "2000",
    "PNPM_CONFIG_FETCH_RETRY_MINTIMEOUT": "1000",
    "PNPM_CONFIG_FETCH_RETRY_MAXTIMEOUT": "2000",
    "YARN_HTTP_RETRY": "1",
    "PIP_RETRIES": "2",
    "UV_HTTP_RETRIES": "2",
    "CARGO_NET_RETRY": "1",
}
"""Package clients take a refusal for a bad connection and wait up to a minute between tries."""
MOST_NAMED: Final = 20
"""Refused hosts that are remembered to be named."""
KNOWN: Final[dict[str, tuple[str, ...]]] = {
    "pip": ("PIP_INDEX_URL", "UV_DEFAULT_INDEX"),
    "npm": ("NPM_CONFIG_REGISTRY", "PNPM_CONFIG_REGISTRY", "YARN_NPM_REGISTRY_SERVER"),
}
"""Variables by which well-known tools find their registry; any other is in MIDWATCH_REGISTRY_<NAME>."""


@dataclass(frozen=True, slots=True)
class RoomNetworks:
    """Makes the network of each sandbox."""

    journal: Journal
    vault: Vault
    models: ModelProxies | None = None
    registries: RegistryAccess | None = None
    resolve: Resolver | None = None

    async def for_room(self, reach: NetworkReach) -> "EgressServer | CombinedServer":
        """Make the egress proxy of a sandbox, and a model proxy where it may use a model."""
        routes = tuple(route_of(text, self.vault) for text in reach.registries)
        named = clients_in(reach.domains)
        inside = await self.registries.for_clients(named) if self.registries and named else Inside()
        policy = EgressPolicy(
            rules_of(reach.domains),
            routes,
            EgressCaps(requests=reach.max_requests),
            registries=inside.hosts,
            identity=inside.identity,
        )
        egress = EgressServer(self, reach, policy, inside)
        if reach.model is None or self.models is None:
            return egress
        self.models.errors.last.pop(reach.job, None)  # an earlier attempt's error says nothing about this one
        grant = self.models.grant(reach.job, reach.epoch, reach.purpose, reach.model)
        return CombinedServer((egress, self.models.proxy_for(grant)))

    def access(self, reach: NetworkReach) -> tuple[str, str, str]:
        """Return the variables that give a program inside its model's address, what to present there, and its kind."""
        if reach.model is None or self.models is None:
            return "", "", "none"
        grant = self.models.grant(reach.job, reach.epoch, reach.purpose, reach.model)
        return address(grant), grant.placeholder, grant.credential.kind

    def met(self, job: str) -> Met | None:
        return self.models.errors.last.get(job) if self.models else None


class CombinedServer:
    """Several proxies of one sandbox, each on its own port."""

    def __init__(self, each: tuple["EgressServer | ModelProxyServer", ...]) -> None:
        self._each = each

    @property
    def ports(self) -> tuple[int, ...]:
        return tuple(port for one in self._each for port in one.ports)

    @property
    def environment(self) -> Mapping[str, str]:
        return {name: value for one in self._each for name, value in one.environment.items()}

    @property
    def lent(self) -> tuple[Path, ...]:
        return tuple(path for one in self._each for path in one.lent)

    @property
    def only_repeats(self) -> asyncio.Event:
        return self._each[0].only_repeats

    async def refused(self, clients: Sequence[str] = ()) -> tuple[HostRefused, ...]:
        return tuple([host for one in self._each for host in await one.refused(clients)])

    async def serve(self, listeners: list[socket.socket]) -> None:
        by_port = {listener.getsockname()[1]: listener for listener in listeners}
        async with asyncio.TaskGroup() as group:
            for one in self._each:
                group.create_task(one.serve([by_port[port] for port in one.ports]))


class EgressServer:
    """Serves one sandbox until cancelled; every connection is recorded before it ends."""

    def __init__(self, house: RoomNetworks, reach: NetworkReach, policy: EgressPolicy, inside: Inside) -> None:
        self._house = house
        self._reach = reach
        self._policy = policy
        self._inside = inside
        self._unlisted: dict[str, RefusalRounds] = {}
        self._denied: dict[str, int] = {}
        self._read: set[str] = set()
        self._moved = 0
        self._seen: asyncio.Queue[ConnectionRecord] = asyncio.Queue()
        self.only_repeats = asyncio.Event()

    @property
    def ports(self) -> tuple[int, ...]:
        return (PORT,)

    @property
    def environment(self) -> Mapping[str, str]:
        """The proxy variables for programs inside, in both spellings in use."""
        door = f"http://127.0.0.1:{PORT}"
        proxy = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"), door)
        near = {"NO_PROXY": "127.0.0.1,localhost,::1", "no_proxy": "127.0.0.1,localhost,::1"}
        yarn = dict.fromkeys(("YARN_HTTP_PROXY", "YARN_HTTPS_PROXY"), door)  # since its version 2 it reads no others
        return {**proxy, **near, **yarn, **QUICK_RETRIES, **self._inside.environment, **self._registries()}

    @property
    def lent(self) -> tuple[Path, ...]:
        return self._inside.lent

    async def refused(self, clients: Sequence[str] = ()) -> tuple[HostRefused, ...]:
        """Return the hosts that are not on the list, and registries that let nothing be read, with whose they are."""
        access = self._house.registries
        owners = await access.owners(self._unlisted, clients) if access and self._unlisted else {}
        unlisted = [HostRefused(host, owners.get(host, "")) for host in self._unlisted]
        denied = [self._denied_by(name, status) for name, status in self._denied.items() if name not in self._read]
        if access is not None:
            access.forget(one.client for one in denied if not one.route)  # the person's next try has other settings
        return (*unlisted, *denied)

    def _denied_by(self, name: str, status: int) -> HostRefused:
        for route in self._policy.routes:
            if route.name == name:
                return HostRefused(route.host, name.removesuffix(INSIDE), status=status, route=True)
        client = next((one.client for one in self._policy.registries if one.host == name), "")
        return HostRefused(name, client, status=status)

    async def serve(self, listeners: list[socket.socket]) -> None:
        """Serve until cancelled; what cannot be recorded must not happen, so a failing journal ends the serving."""
        house = self._house
        egress = EgressProxy(self._policy, self._seen.put_nowait, resolve=house.resolve, trust=self._inside.trust)
        self._moved = 0
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._record_all(egress))
                for listener in listeners:
                    group.create_task(egress.serve(listener))
        finally:
            await asyncio.shield(self._leave(egress))

    async def _leave(self, egress: EgressProxy) -> None:
        await egress.close()
        while not self._seen.empty():
            await self._record(self._seen.get_nowait(), egress)

    async def _record_all(self, egress: EgressProxy) -> None:
        while True:
            await self._record(await self._seen.get(), egress)

    def _remember(self, seen: ConnectionRecord, moved: int) -> None:
        """Remember what to say about a failure, and notice a program that only repeats what was refused to it."""
        if seen.denied:
            self._denied[seen.host] = seen.denied
        elif seen.rule and seen.bytes_in:
            self._read.add(seen.host)
        if seen.verdict != "refused" or seen.rule or fault_in(seen.host):
            return
        if moved != self._moved:
            self._moved = moved
            self._unlisted = dict.fromkeys(self._unlisted, RefusalRounds())
        if seen.host in self._unlisted or len(self._unlisted) < MOST_NAMED:
            self._unlisted[seen.host] = another_refusal(self._unlisted.get(seen.host, RefusalRounds()), monotonic())
            if only_repeats(self._unlisted[seen.host]):
                self.only_repeats.set()

    async def _record(self, seen: ConnectionRecord, egress: EgressProxy) -> None:
        self._remember(seen, egress.counts.bytes_in)
        event = ConnectionSeen(
            job=self._reach.job,
            epoch=self._reach.epoch,
            host=seen.host,
            port=seen.port,
            verdict=seen.verdict,
            why=seen.why,
            rule=seen.rule,
            bytes_out=seen.bytes_out,
            bytes_in=seen.bytes_in,
        )
        await asyncio.shield(self._house.journal.record(event))

    def _registries(self) -> dict[str, str]:
        result: dict[str, str] = {}
        for route in self._policy.routes:
            name = route.name.removesuffix(INSIDE)
            variables = KNOWN.get(name) or (f"MIDWATCH_REGISTRY_{name.upper().replace('-', '_')}",)
            result |= dict.fromkeys(variables, f"http://{route.name}/")
            if name == "pip":
                result |= {"PIP_TRUSTED_HOST": route.name, "UV_INSECURE_HOST": route.name}
        return result


def route_of(text: str, vault: Vault) -> RegistryRoute:
    """Parse a registry from the settings: `pip=https://packages.example.org/team/#bearer:SECRET`."""
    found = REGISTRY.fullmatch(text)
    if found is None:
        raise Misuse(
            "A registry in sandbox.registries cannot be read.",
            hint="Write name=https://host/path/ and, for a credential, #bearer:SECRET or #basic:SECRET.",
        )
    name, upstream, kind, secret = found.groups()
    headers = _credential(kind, secret, vault) if secret else no_headers
    return RegistryRoute(f"{name}{INSIDE}", upstream, headers=headers)


def _credential(kind: str, name: str, vault: Vault) -> HeaderSource:
    async def headers() -> Mapping[str, str]:
        value = (await vault.secret(name)).reveal()
        if kind == "basic":
            return {"Authorization": f"Basic {base64.b64encode(value.encode()).decode()}"}
        return {"Authorization": f"Bearer {value}"}

    return headers
