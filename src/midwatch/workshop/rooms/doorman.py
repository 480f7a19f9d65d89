"""Who stands at a room's doors: what an agent sends out passes him, and nothing else leaves."""

import contextlib
import socket
from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from midwatch.errors import Broken, Unavailable
from midwatch.workshop.holding.held import Held
from midwatch.workshop.sandbox.background import meanwhile


class Doorman(Protocol):
    """Serves the doors of one room; the gateway's proxies play him.

    Only a room with a network of its own has doors. Elsewhere an agent has the machine's network or none, and its level
    is capped for that reason.
    """

    @property
    def ports(self) -> tuple[int, ...]:
        """The doors, by the number they have on 127.0.0.1 inside."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """What programs inside must know to find the doors."""
        ...

    async def serve(self, listeners: list[socket.socket]) -> None:
        """Serve until cancelled; the listeners are his to close."""
        ...


@contextlib.asynccontextmanager
async def serving(doorman: Doorman, held: Held) -> AsyncIterator[None]:
    """Have a holder's doors served for a while; connections made before or after wait in the kernel's queue."""
    try:
        listeners = await held.doors()
    except (Unavailable, Broken):
        yield  # it has ended meanwhile, and its ending says how
        return
    async with meanwhile(doorman.serve(listeners)):
        yield
