"""Runs queued work in our event loop, again after a crash, until it is done."""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import sqlalchemy as sa

from midwatch.engine.queue_rows import Args, ClaimedWork, FinishedWork, QueueRows
from midwatch.engine.queue_watch import QueueWatch
from midwatch.journal.follows import QueuedWork
from midwatch.ports.journal import in_background

Perform = Callable[[str, Args, int], Awaitable[None]]

AT_ONCE = 200
"""More than the settings let jobs run at once (100): a round never waits behind stages, which run for minutes."""
STOP_SECONDS = 10.0
"""How long the shutdown waits for cancelled work."""
SWITCH_SECONDS = 0.0005
"""How long a thread keeps the interpreter while others wait for it. A write asks for it some ten times."""
SINGLE = "single"
"""SQLite has one constant executor, the process with the folder's lock, so that the next one finds its work again."""
log = logging.getLogger("midwatch.engine")


class DurableQueue:
    """Queues work inside the caller's transaction; a worker is woken when it commits."""

    def __init__(self, engine: sa.Engine) -> None:
        self.rows = QueueRows(engine)
        self.watch: QueueWatch | None = None

    def put(self, connection: object, work: QueuedWork, *, seq: int) -> None:
        assert isinstance(connection, sa.Connection)  # noqa: S101  opaque to the caller, not to us
        self.rows.put(connection, work.name, work.args, seq)

    def committed(self) -> None:
        """Wake this process's worker after the commit. On PostgreSQL the database has done so."""
        if self.watch is not None and not self.rows.notifies:
            self.watch.wake()


class WorkEngine:
    """Runs what is queued; `perform` may run twice for the same work, and its second run must change nothing."""

    perform: Perform

    def __init__(self, engine: sa.Engine, *, executor: str, poll_seconds: float) -> None:
        self._engine = engine
        self.executor = executor
        self._poll = poll_seconds
        self._tasks: set[asyncio.Task[None]] = set()
        self.queue = DurableQueue(engine)

    async def start(self, perform: Perform) -> None:
        """Resume unfinished work, and claim more from now on."""
        self.perform = perform
        sys.setswitchinterval(SWITCH_SECONDS)
        loop = asyncio.get_running_loop()
        # Stages wait in threads for minutes; the loop's own pool has a few only.
        loop.set_default_executor(ThreadPoolExecutor(AT_ONCE, thread_name_prefix="midwatch"))

        def claimed(some: list[ClaimedWork]) -> None:
            loop.call_soon_threadsafe(self._begin, some)

        watch = QueueWatch(self.queue.rows, self._engine, claimed, executor=self.executor)
        self.queue.watch = watch
        watch.begin(at_once=AT_ONCE, poll_seconds=self._poll)

    def _begin(self, some: list[ClaimedWork]) -> None:
        for work in some:
            task = asyncio.create_task(self._carry_out(work), name=work.id)  # noqa: TID251  stop() ends it
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _carry_out(self, work: ClaimedWork) -> None:
        in_background.set(True)
        assert self.queue.watch is not None  # noqa: S101  it claimed the work
        try:
            await self.perform(work.name, work.args, work.seq)
        except Exception as error:
            log.exception("%s failed.", work.id)
            self.queue.watch.finish(FinishedWork(work, f"{type(error).__name__}: {error}"))
        else:
            self.queue.watch.finish(FinishedWork(work))

    def recover(self, executors: list[str]) -> None:
        """Take over the work of dead workers; blocking, so call it from a thread."""
        with self._engine.begin() as tx:
            self.queue.rows.requeue(tx, executors)

    async def stop(self) -> None:
        """Stop; work in progress stays claimed and resumes at the next start."""
        watch = self.queue.watch
        if watch is None:
            return
        await asyncio.to_thread(watch.stop)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=STOP_SECONDS)
        await asyncio.to_thread(watch.close)
