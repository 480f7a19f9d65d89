"""Connections to registries that wait for the next request: a handshake for each file would cost more than the file."""

import asyncio
from dataclasses import dataclass
from typing import Final

from midwatch.gateway.egress.policy import RegistryHost
from midwatch.gateway.egress.wire import Wire

MOST: Final = 32
"""Connections of one sandbox that may rest at once; a further one replaces the one that rested longest."""
IDLE: Final = 30.0
"""Seconds after which a resting connection is closed: many registries close theirs soon after that."""


@dataclass(frozen=True, slots=True)
class RestingFor:
    """What a resting connection may be used for again: one host, by TLS or not, and one registry's credential."""

    client: str
    host: str
    port: int
    secure: bool
    folder: str
    """The registry's folder; empty where the request carried no credential of it."""

    @classmethod
    def of(cls, registry: RegistryHost, path: str) -> "RestingFor":
        folder = registry.folder if path.startswith(registry.folder) else ""
        return cls(registry.client, registry.host, registry.port, registry.secure, folder)


@dataclass(frozen=True, slots=True)
class Resting:
    """One connection at rest, and what closes it once it has rested long enough."""

    use: RestingFor
    wire: Wire
    address: str
    ends: asyncio.TimerHandle

    def close(self) -> None:
        self.ends.cancel()
        self.wire.cut()


class RestingConnections:
    """The open connections of one sandbox to registries that carry no request at the moment."""

    def __init__(self, most: int = MOST, idle: float = IDLE) -> None:
        self._most = most
        self._idle = idle
        self._all: list[Resting] = []
        self._closed = False

    def __len__(self) -> int:
        return len(self._all)

    async def take(self, use: RestingFor) -> tuple[Wire, str] | None:
        """Return the connection that was used last, with its address; it may still turn out to be closed."""
        while found := next((one for one in reversed(self._all) if one.use == use), None):
            self._all.remove(found)
            found.ends.cancel()
            if await _silent(found.wire):
                return found.wire, found.address
            found.wire.cut()
        return None

    def put(self, use: RestingFor, wire: Wire, address: str) -> None:
        """Keep a connection whose last answer was read to its end."""
        if self._closed:
            wire.cut()
            return
        ends = asyncio.get_running_loop().call_later(self._idle, self._expire, wire)
        self._all.append(Resting(use, wire, address, ends))
        if len(self._all) > self._most:
            self._all.pop(0).close()

    def close(self) -> None:
        """Close all of them; one that is put back later is closed too."""
        self._closed = True
        for one in self._all:
            one.close()
        self._all.clear()

    def _expire(self, wire: Wire) -> None:
        wire.cut()
        self._all = [one for one in self._all if one.wire is not wire]


async def _silent(wire: Wire) -> bool:
    """Whether nothing has arrived, not even the end: what came unasked would be taken for the next answer."""
    try:
        async with asyncio.timeout(0):
            await wire.reader.read(1)
    except TimeoutError:
        return True
    except OSError:
        return False
    return False
