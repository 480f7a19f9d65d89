"""Starts Midwatch with its engine and its loops, and shuts it down cleanly."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from pydantic import JsonValue

from midwatch.compose.house import House, Parts
from midwatch.compose.read_side import database_url
from midwatch.engine.lease import FolderLock
from midwatch.errors import MidwatchError
from midwatch.settings import load_settings
from midwatch.settings.folder import prepare_folder
from midwatch.store.schema.engines import is_sqlite, open_for_engine, open_lease_writer

REST_SECONDS = 1.0
AGAIN_SECONDS, LATEST_SECONDS = 1.0, 60.0
Loop = Callable[[], Awaitable[None]]
log = logging.getLogger("midwatch")


async def going_on(loop: Loop, latest_seconds: float = LATEST_SECONDS) -> None:
    """Restart a loop after an error: a locked database or a lost connection must not end the server.

    One that fails again and again is restarted after longer and longer pauses, up to `latest_seconds`.
    """
    pause = AGAIN_SECONDS
    while True:
        began = time.monotonic()
        try:
            await loop()
        except Exception:
            pause = AGAIN_SECONDS if time.monotonic() - began > latest_seconds else pause
            log.exception("a loop failed and continues in %.0f seconds", pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, latest_seconds)


@contextlib.asynccontextmanager
async def open_house(
    home: Path, *, flags: dict[str, JsonValue] | None = None, parts: Parts | None = None, extra_worker: bool = False
) -> AsyncIterator[House]:
    """Start Midwatch: lock, migrate, engine, loops; and shut it down cleanly.

    One server per data folder; on PostgreSQL extra workers may join it.
    """
    from midwatch.store.schema.migrate import bring_into_shape  # noqa: PLC0415 - a reader migrates nothing

    prepare_folder(home)
    loaded = load_settings(home, flags=flags)
    url = database_url(home, loaded)
    lock = FolderLock(home)
    if is_sqlite(url) or not extra_worker:
        lock.take()
    try:
        await asyncio.to_thread(bring_into_shape, url)
        house = House(home, flags=flags, parts=parts)
        try:
            await house.reload_settings()
            await house.doors.open()
            house.journal.listeners.append(house.heard)
            async with _engine(house):
                yield house
        except BaseExceptionGroup as group:
            raise _the_one(group) from group
        finally:
            await house.dispose()
    finally:
        lock.release()


def _the_one(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Find Midwatch's own error in a task group's exceptions: it has the message."""
    ours, _ = group.split(MidwatchError)
    while ours is not None:
        first = ours.exceptions[0]
        if not isinstance(first, BaseExceptionGroup):
            return first
        ours = first
    return group


@contextlib.asynccontextmanager
async def _engine(house: House) -> AsyncIterator[None]:
    """Run the engine and the loops while the caller works."""
    from midwatch.engine.lease import Lease  # noqa: PLC0415 - as below
    from midwatch.engine.work_engine import SINGLE, WorkEngine  # noqa: PLC0415 - a reader needs no engine

    given = house.parts.engine
    server = house.loaded.settings.server
    postgres = not is_sqlite(house.url)
    sync = None if given else open_for_engine(house.url)
    executor = house.worker if postgres else SINGLE
    engine = given or WorkEngine(sync, executor=executor, poll_seconds=server.queue_poll_seconds)  # type: ignore[arg-type]
    lease = None
    if postgres and isinstance(engine, WorkEngine):
        lease = Lease(
            open_lease_writer(house.url), executor=executor, seconds=server.lease_seconds, recover=engine.recover
        )
        await lease.take()
    house.journal.queue = engine.queue
    await engine.start(house.performer.perform)
    try:
        async with asyncio.TaskGroup() as loops:
            wanted: list[Loop] = []
            at_once: list[Loop] = []  # another worker takes our work over where the lease is not kept in time
            if postgres:  # on SQLite only this process writes, and it sees its own entries at once
                head = await house.records.head()
                at_once.append(lambda: house.listen(head))
            if given is None:
                await asyncio.to_thread(house.workshop.nursery.open)
                wanted += [
                    house.timers.run,
                    house.patrol().run,
                    house.forge_watch.run,
                ]
            if lease is not None:
                at_once.append(lease.keep)
            running = [loops.create_task(going_on(loop)) for loop in wanted]
            running += [loops.create_task(going_on(loop, AGAIN_SECONDS)) for loop in at_once]
            try:
                yield
            finally:
                for task in running:
                    task.cancel()
    finally:
        await house.performer.rest(REST_SECONDS)
        house.performer.leave()
        await engine.stop()
        house.performer.left()
        if lease is not None:
            await lease.give_up()
        if sync is not None:
            sync.dispose()
