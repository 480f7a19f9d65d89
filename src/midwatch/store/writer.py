"""The single writer: its thread runs whole transactions, one after another."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import sqlalchemy as sa

from midwatch.store.schema.engines import begin_unsynced, open_writer

T = TypeVar("T")
TOGETHER = 50
"""How many writes share one wait for the disk at most."""


@dataclass(slots=True)
class Write:
    """One piece of work for the writer, and what became of it."""

    work: Callable[[sa.Connection], Any]
    then: Callable[[Any], None] | None
    lasting: bool
    done: Future[Any] = field(default_factory=Future)

    def finish(self, result: Any) -> None:
        try:
            if self.then is not None:
                self.then(result)
        finally:
            self.done.set_result(result)


class DatabaseWriter:
    """A transaction crosses to the thread once; waiting for each of its statements in the loop costs twice as much.

    What waits together is committed together: each write in its own savepoint, with one wait for the disk for all.
    """

    def __init__(self, url: str) -> None:
        self.engine = open_writer(url)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._waiting: deque[Write] = deque()
        self._guard = threading.Lock()

    async def write(
        self, work: Callable[[sa.Connection], T], then: Callable[[T], None] | None = None, *, lasting: bool = True
    ) -> T:
        """Run the work, all of it or nothing; `then` runs in the writer's thread after the commit.

        Work that has begun is finished, even if the caller is cancelled. Work that need not survive a power cut does
        not wait for the disk. After a lost connection the work is run once more.
        """
        write = Write(work, then, lasting)
        with self._guard:
            self._waiting.append(write)
        self._thread.submit(self._serve)
        return await asyncio.wrap_future(write.done)

    def _serve(self) -> None:
        """Run the waiting writes; usually that is one, or none because another call served it."""
        with self._guard:
            some = [self._waiting.popleft() for _ in range(min(len(self._waiting), TOGETHER))]
        some = [one for one in some if one.done.set_running_or_notify_cancel()]  # from here on it is finished
        if len(some) == 1 or not all(one.lasting for one in some):
            for one in some:
                self._alone(one)
        elif some:
            self._together(some)

    def _alone(self, one: Write) -> None:
        try:
            try:
                result = self._transact(one)
            except sa.exc.DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                result = self._transact(one)  # the connection was lost and the pool is new
        except BaseException as error:  # noqa: BLE001  any error belongs to the caller
            one.done.set_exception(error)
        else:
            one.finish(result)

    def _transact(self, one: Write) -> Any:
        with self.engine.begin() if one.lasting else begin_unsynced(self.engine) as tx:
            return one.work(tx)

    def _together(self, some: list[Write]) -> None:
        """One transaction for all; if it cannot be committed, each gets its own."""
        results: list[tuple[Write, Any]] = []
        refused: list[tuple[Write, Exception]] = []
        try:
            with self.engine.begin() as tx:
                for one in some:
                    try:
                        with tx.begin_nested():
                            results.append((one, one.work(tx)))
                    except sa.exc.DBAPIError:
                        raise
                    except Exception as error:  # noqa: BLE001  its own savepoint is rolled back, the others stay
                        refused.append((one, error))
        except sa.exc.DBAPIError:
            for one in some:
                self._alone(one)
            return
        for one, why in refused:
            one.done.set_exception(why)
        for one, result in results:
            one.finish(result)

    async def close(self) -> None:
        """Finish what has begun, then close the connection."""
        await asyncio.to_thread(self._thread.shutdown)
        self.engine.dispose()
