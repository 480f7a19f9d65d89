"""From a name to a connection: resolved once, each address checked, and exactly that address dialled."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from midwatch.gateway.egress.connection import EgressRefused, LiveConnection
from midwatch.gateway.egress.http_head import LARGEST_HEAD
from midwatch.gateway.egress.policy import EgressDeadlines
from midwatch.gateway.egress.wire import Wire, within
from midwatch.rules.budget.egress import same_domain, why_not_dial

Address = tuple[str, int]
Resolver = Callable[[str, int], Awaitable[Sequence[Address]]]
MOST_TRIES: Final = 4
HOSTS_FILE: Final = Path("/etc/hosts")


class SystemResolver:
    """Calls the machine's resolver, in its own threads, so that a slow answer delays nothing else."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(4, "egress-names")

    async def __call__(self, host: str, port: int) -> Sequence[Address]:
        """Resolve a name, with a dot at its end so that no search domain is tried."""
        ask = partial(_addresses, host, port)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return list(dict.fromkeys((address, port) for address in found))

    def close(self) -> None:
        """Release the threads; a pending answer is not awaited."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _addresses(host: str, port: int) -> list[str]:
    try:
        return [str(answer[4][0]) for answer in socket.getaddrinfo(f"{host}.", port, type=socket.SOCK_STREAM)]
    except socket.gaierror:
        if known := _in_hosts_file(host):
            return known
        raise


def _in_hosts_file(host: str) -> list[str]:
    """Look a name up as other programs do: the machine's own list has it without a dot at its end."""
    try:
        lines = HOSTS_FILE.read_text(errors="replace").splitlines()
    except OSError:
        return []
    entries = (line.partition("#")[0].lower().split() for line in lines)
    return [address for address, *hosts in filter(None, entries) if host in hosts]


class Dialer:
    """Opens connections to the internet."""

    def __init__(self, resolve: Resolver, exempt: Collection[Address], deadlines: EgressDeadlines) -> None:
        self._resolve = resolve
        self._exempt = frozenset(exempt)
        self._deadlines = deadlines

    async def addresses(self, host: str, port: int, *, own_network: bool = False) -> list[Address]:
        """Return the addresses of a name that may be dialled; there is at least one."""
        found = await self._known(host, port)
        return self._open(host, {at: why_not_dial(at[0], own_network=own_network) for at in found})

    async def downloads(self, host: str, port: int, named_by: Collection[Address]) -> list[Address]:
        """Return the addresses of a host that only a registry's own page names: public ones, or beside that registry.

        A registry on the internet must not send its readers into this machine's network.
        """
        found = await self._known(host, port)
        faults = {at: why_not_dial(at[0]) for at in found}
        if any(faults.values()):
            for registry, its_port in named_by:
                at_home = {address for address, _ in await self._found(registry, its_port) if _only_at_home(address)}
                near = bool(at_home) and same_domain(host, registry)
                faults |= {at: "" for at in found if at[0] in at_home or (near and _only_at_home(at[0]))}
        return self._open(host, faults)

    async def _known(self, host: str, port: int) -> list[Address]:
        found = await self._found(host, port)
        if not found:
            raise EgressRefused(f"{host} has no address.", "failed", 502)
        return found

    async def _found(self, host: str, port: int) -> list[Address]:
        async with within(self._deadlines.resolve, f"Looking up {host} took too long."):
            try:
                return list(await self._resolve(host, port))
            except (OSError, UnicodeError):
                return []

    def _open(self, host: str, faults: Mapping[Address, str]) -> list[Address]:
        good = [at for at, fault in faults.items() if at in self._exempt or not fault]
        if not good:
            at, fault = next(iter(faults.items()))
            raise EgressRefused(f"{host} leads to {at[0]}, {fault}.")
        return good[:MOST_TRIES]

    async def dial(
        self, visit: LiveConnection, addresses: list[Address], *, host: str, trust: ssl.SSLContext | None = None
    ) -> Wire:
        """Connect to the first address that answers."""
        async with within(self._deadlines.dial, f"{host} did not answer in time."):
            for address, port in addresses:
                visit.address = address
                try:
                    return await _connect(address, port, host, trust)
                except ssl.SSLCertVerificationError:
                    raise EgressRefused(f"The certificate of {host} cannot be trusted.", "failed", 502) from None
                except OSError:
                    continue
        raise EgressRefused(f"{host} could not be reached.", "failed", 502)


def _only_at_home(address: str) -> bool:
    """Whether an address is one of this machine's own network."""
    return bool(why_not_dial(address)) and not why_not_dial(address, own_network=True)


async def _connect(address: str, port: int, host: str, trust: ssl.SSLContext | None) -> Wire:
    if trust is None:
        return Wire.of(*await asyncio.open_connection(address, port, limit=LARGEST_HEAD))
    streams = await asyncio.open_connection(address, port, ssl=trust, server_hostname=host, limit=LARGEST_HEAD)
    return Wire.of(*streams)
