"""An engine for tests in one process: the same queue guarantees; work runs on demand.

Its own module: only `compose` imports an implementation of a port.
"""

from collections import deque

import sqlalchemy as sa

from midwatch.engine.work_engine import Perform
from midwatch.journal.follows import QueuedWork


class InlineEngine:
    """Keeps committed work in memory and runs it on demand, in order."""

    executor = "inline"

    def __init__(self) -> None:
        self._waiting: dict[int, list[tuple[QueuedWork, int]]] = {}
        self.ready: deque[tuple[QueuedWork, int]] = deque()
        self._watched: set[sa.Engine] = set()
        self._perform: Perform | None = None
        self.queue = self

    def put(self, connection: object, work: QueuedWork, *, seq: int) -> None:
        """Remember the work; it becomes ready if and only if the transaction commits."""
        assert isinstance(connection, sa.Connection)  # noqa: S101  opaque to the caller, not to us
        if connection.engine not in self._watched:
            self._watched.add(connection.engine)
            sa.event.listen(connection.engine, "rollback", self._rolled_back)
            # Not "commit": that comes before the commit, and another thread would not find what the work is about.
            sa.event.listen(connection.engine, "checkin", self._committed)
        self._waiting.setdefault(id(connection.connection.dbapi_connection), []).append((work, seq))

    def committed(self) -> None:
        """Wait for `run_ready`."""

    def _committed(self, connection: object, _: object) -> None:
        self.ready.extend(self._waiting.pop(id(connection), []))

    def _rolled_back(self, connection: sa.Connection) -> None:
        self._waiting.pop(id(connection.connection.dbapi_connection), None)

    async def start(self, perform: Perform) -> None:
        """Set the function that runs the work."""
        self._perform = perform

    async def run_ready(self) -> int:
        """Run everything that is ready, and the work it queues; return how many ran."""
        count = 0
        while self.ready:
            work, seq = self.ready.popleft()
            assert self._perform is not None  # noqa: S101  start() was called by compose
            await self._perform(work.name, work.args, seq)
            count += 1
        return count

    async def stop(self) -> None:
        """Do nothing: there is nothing to stop."""
