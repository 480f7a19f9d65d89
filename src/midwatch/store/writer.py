"""The one line for writing: a thread of its own that runs whole transactions, one after another."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import sqlalchemy as sa

from midwatch.store.schema.engines import begin_unsynced, open_writer

T = TypeVar("T")


class Pen:
    """A transaction crosses to the thread once; waiting for each of its statements in the loop costs twice as much."""

    def __init__(self, url: str) -> None:
        self.engine = open_writer(url)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pen")

    async def write(
        self, work: Callable[[sa.Connection], T], then: Callable[[T], None] | None = None, *, lasting: bool = True
    ) -> T:
        """Run the work in one transaction; `then` hears in the loop, before the caller does and even if it is gone.

        What has begun is finished, also when the caller is cancelled meanwhile. What need not last a power cut does
        not wait for the disk.
        """
        loop = asyncio.get_running_loop()

        def transact() -> T:
            try:
                done = self._transact(work, lasting)
            except sa.exc.DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                done = self._transact(
                    work, lasting
                )  # the line was lost and the pool is new; `work` must bear a second time
            if then is not None:
                loop.call_soon_threadsafe(then, done)
            return done

        return await loop.run_in_executor(self._thread, transact)

    def _transact(self, work: Callable[[sa.Connection], T], lasting: bool) -> T:  # noqa: FBT001 - inner
        with self.engine.begin() if lasting else begin_unsynced(self.engine) as tx:
            return work(tx)

    async def put_away(self) -> None:
        """Finish what was begun and close the line."""
        await asyncio.to_thread(self._thread.shutdown)
        self.engine.dispose()
