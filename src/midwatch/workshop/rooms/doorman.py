"""Who stands at a room's doors: what an agent sends out passes him, and nothing else leaves."""

import contextlib
from collections.abc import AsyncIterator

from midwatch.errors import Broken, Unavailable
from midwatch.ports.network import RoomNetwork
from midwatch.workshop.holding.held import Held
from midwatch.workshop.sandbox.background import meanwhile


@contextlib.asynccontextmanager
async def serving(doorman: RoomNetwork, held: Held) -> AsyncIterator[None]:
    """Have a holder's doors served for a while; connections made before or after wait in the kernel's queue."""
    try:
        listeners = await held.doors()
    except (Unavailable, Broken):
        yield  # it has ended meanwhile, and its ending says how
        return
    async with meanwhile(doorman.serve(listeners)):
        yield
