"""What the children of store tests do; module-level, so that another process can find it by name."""

import asyncio
import os
import signal
from multiprocessing.connection import Connection
from typing import Any

import sqlalchemy as sa

from midwatch.engine.work_engine import DurableQueue
from midwatch.store.schema.engines import open_for_engine
from tests.store import scenes
from tests.store.opened import opened


def die() -> None:
    """Go without a word, as a power cut would have it."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(engine: sa.Engine, point: int) -> None:
    """Die at the n-th thing the connection does: before and after each statement, and before the commit."""
    done = [0]

    def step(*_: object) -> None:
        done[0] += 1
        if done[0] == point:
            die()

    for event in ("before_cursor_execute", "after_cursor_execute", "commit"):
        sa.event.listen(engine, event, step)


def record_and_die(url: str, point: int) -> None:
    """Record a message and a job with the work that follows; die at the given point, or after it all."""

    async def body() -> None:
        async with opened(url) as store:
            store.journal.queue = DurableQueue(open_for_engine(url))
            die_at(store.writer.engine, point)
            name = f"{point:03}"
            await store.journal.record(scenes.said(name), scenes.job(f"job_{name}", of=f"prj_{name}"), key=f"k{name}")
            if point > 1000:
                die()

    asyncio.run(body())


def write(url: str, who: int, count: int, go: Any) -> None:
    """Write messages as fast as it goes, once everybody is ready."""

    async def body() -> None:
        async with opened(url) as store:
            go.wait()
            for number in range(count):
                await store.journal.record(scenes.said(f"{who}-{number}"), key=f"{who}-{number}")

    asyncio.run(body())


def follow(url: str, upto: int, out: Connection) -> None:
    """Follow the journal and tell every seq seen."""

    async def body() -> None:
        seen = []
        async with opened(url) as store:
            async for entry in store.journal.tail(after=0):
                seen.append(entry.seq)
                if len(seen) == 1:
                    out.send("following")
                if entry.seq >= upto:
                    break
        out.send(seen)

    asyncio.run(body())
