"""Loops that outlive their troubles."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

AGAIN_SECONDS = 1.0
Loop = Callable[[], Awaitable[None]]
log = logging.getLogger("midwatch")


async def going_on(loop: Loop) -> None:
    """Keep a loop going: a locked database or a lost connection must not end the whole watch."""
    while True:
        try:
            await loop()
        except Exception:
            log.exception("a loop failed and continues")
            await asyncio.sleep(AGAIN_SECONDS)
