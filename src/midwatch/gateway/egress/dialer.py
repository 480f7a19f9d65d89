"""From a name to a connection: resolved once, each address checked, and exactly that address dialled."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from midwatch.gateway.egress.connection import EgressRefused, LiveConnection
from midwatch.gateway.egress.http_head import LARGEST_HEAD
from midwatch.gateway.egress.policy import EgressDeadlines
from midwatch.gateway.egress.wire import Wire, within
from midwatch.rules.budget.egress import why_not_dial

Address = tuple[str, int]
Resolver = Callable[[str, int], Awaitable[Sequence[Address]]]
MOST_TRIES: Final = 4


class SystemResolver:
    """Calls the machine's resolver, in its own threads, so that a slow answer delays nothing else."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(4, "egress-names")

    async def __call__(self, host: str, port: int) -> Sequence[Address]:
        """Resolve a name, with a dot at its end so that no search domain is tried."""
        ask = partial(socket.getaddrinfo, f"{host}.", port, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return list(dict.fromkeys((str(answer[4][0]), port) for answer in found))

    def close(self) -> None:
        """Release the threads; a pending answer is not awaited."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Dialer:
    """Opens connections to the internet."""

    def __init__(self, resolve: Resolver, exempt: Collection[Address], deadlines: EgressDeadlines) -> None:
        self._resolve = resolve
        self._exempt = frozenset(exempt)
        self._deadlines = deadlines

    async def addresses(self, host: str, port: int, *, own_network: bool = False) -> list[Address]:
        """Return the addresses of a name that may be dialled; there is at least one."""
        async with within(self._deadlines.resolve, f"Looking up {host} took too long."):
            try:
                found = list(await self._resolve(host, port))
            except (OSError, UnicodeError):
                found = []
        if not found:
            raise EgressRefused(f"{host} has no address.", "failed", 502)
        faults = {at: "" if at in self._exempt else why_not_dial(at[0], own_network=own_network) for at in found}
        good = [at for at, fault in faults.items() if not fault]
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


async def _connect(address: str, port: int, host: str, trust: ssl.SSLContext | None) -> Wire:
    if trust is None:
        return Wire.of(*await asyncio.open_connection(address, port, limit=LARGEST_HEAD))
    streams = await asyncio.open_connection(address, port, ssl=trust, server_hostname=host, limit=LARGEST_HEAD)
    return Wire.of(*streams)
