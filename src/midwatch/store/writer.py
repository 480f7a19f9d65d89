"""The single writer: its thread runs whole transactions, one after another."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import sqlalchemy as sa

from midwatch.ports.journal import in_background
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
    patient: bool
    done: Future[Any] = field(default_factory=Future)
    result: Any = None

    def finish(self) -> None:
        """Report that it is committed."""
        try:
            if self.then is not None:
                self.then(self.result)
        finally:
            self.done.set_result(self.result)


class DatabaseWriter:
    """A transaction crosses to the thread once; waiting for each of its statements in the loop costs twice as much.

    What waits together is committed together, with one wait for the disk for all. Queued work is patient: it waits for
    other writers, who wait for no more than the one write of it that is under way.
    """

    def __init__(self, url: str) -> None:
        self.engine = open_writer(url)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._first: deque[Write] = deque()
        self._later: deque[Write] = deque()
        self._guard = threading.Lock()

    async def write(
        self, work: Callable[[sa.Connection], T], then: Callable[[T], None] | None = None, *, lasting: bool = True
    ) -> T:
        """Run the work, all of it or nothing; `then` runs in the writer's thread after the commit.

        Work that has begun is finished, even if the caller is cancelled. Work that need not survive a power cut does
        not wait for the disk. After a lost connection the work is run once more.
        """
        write = Write(work, then, lasting, patient=in_background.get())
        with self._guard:
            (self._later if write.patient else self._first).append(write)
        self._thread.submit(self._serve)
        return await asyncio.wrap_future(write.done)

    def _serve(self) -> None:
        """Run what waits, at least one write; usually that is one, or none because another call served it."""
        first = self._next()
        if first is None:
            return
        if first.lasting:
            self._together(first)
        else:
            self._alone(first)

    def _next(self, together: Sequence[Write] = ()) -> Write | None:
        """Take the next write, if it fits to those of the transaction; from here on it is finished."""
        if len(together) >= TOGETHER:
            return None
        queues = (self._first, self._later) if all(one.patient for one in together) else (self._first,)
        with self._guard:
            for queue in queues:
                while queue and (queue[0].lasting or not together):
                    one = queue.popleft()
                    if one.done.set_running_or_notify_cancel():
                        return one
        return None

    def _alone(self, one: Write) -> None:
        try:
            try:
                self._transact(one)
            except sa.exc.DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                self._transact(one)  # the connection was lost and the pool is new
        except BaseException as error:  # noqa: BLE001  any error belongs to the caller
            one.done.set_exception(error)
        else:
            one.finish()

    def _transact(self, one: Write) -> None:
        with self.engine.begin() if one.lasting else begin_unsynced(self.engine) as tx:
            one.result = one.work(tx)

    def _together(self, first: Write) -> None:
        """One transaction for it and for what comes meanwhile; if one of them is refused, each gets its own.

        Savepoints would undo only the one, but cost all of them a round trip each, and refusals are rare.
        """
        taken = [first]
        try:
            with self.engine.begin() as tx:
                first.result = first.work(tx)
                while (one := self._next(taken)) is not None:
                    taken.append(one)
                    one.result = one.work(tx)
        except BaseException as error:  # noqa: BLE001  any error belongs to the caller
            if len(taken) == 1 and not _lost_connection(error):
                first.done.set_exception(error)
                return
            for one in taken:
                self._alone(one)
            return
        for one in taken:
            one.finish()

    async def close(self) -> None:
        """Finish what has begun, then close the connection."""
        await asyncio.to_thread(self._thread.shutdown)
        self.engine.dispose()


def _lost_connection(error: BaseException) -> bool:
    return isinstance(error, sa.exc.DBAPIError) and bool(error.connection_invalidated)
