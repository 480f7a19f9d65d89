"""Work that runs beside a block of code and never outlives it."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def meanwhile(*works: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run some work beside the block; at the block's end it is cancelled, and an error in it ends the block."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
            yield
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as several:
        # The caller gets the first error itself, not the group around it.
        raise several.exceptions[0] from None
