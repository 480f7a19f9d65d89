"""Loops that continue after an error."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

AGAIN_SECONDS = 1.0
Loop = Callable[[], Awaitable[None]]
log = logging.getLogger("midwatch")


async def going_on(loop: Loop) -> None:
    """Restart a loop after an error: a locked database or a lost connection must not end the server."""
    while True:
        try:
            await loop()
        except Exception:
            log.exception("a loop failed and continues")
            await asyncio.sleep(AGAIN_SECONDS)
