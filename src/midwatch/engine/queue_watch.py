"""A thread that starts queued work as soon as it is committed, and writes down what is done."""

import logging
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import sqlalchemy as sa

from midwatch.engine.queue_rows import CHANNEL, ClaimedWork, FinishedWork, QueueRows

AGAIN_SECONDS = 1.0
GATHER_SECONDS = 0.02
"""The minimum time between two transactions: the first of a burst starts at once, the rest together."""
log = logging.getLogger("midwatch.engine")


class QueueWatch:
    """Claims work when this process queues some or the database announces any; a poll is the fallback.

    One transaction writes down what is done and claims what is next. What this process has claimed stays in `_held`
    until its end is committed. Anything else under its name was claimed by a transaction whose answer was lost, or
    before a crash, and is put back.
    """

    def __init__(
        self, rows: QueueRows, engine: sa.Engine, start: Callable[[list[ClaimedWork]], None], *, executor: str
    ) -> None:
        self._rows = rows
        self._engine = engine
        self._start = start
        self._executor = executor
        self._held: set[str] = set()
        self._done: list[FinishedWork] = []
        self._guard = threading.Lock()
        self._turned = 0.0
        self._stopping = threading.Event()
        self._woken, self._waker = socket.socketpair()
        self._woken.settimeout(0.0)
        self._waker.settimeout(0.0)
        self._thread = threading.Thread(target=self._run, name="queue-watch", daemon=True)

    def begin(self, *, at_once: int, poll_seconds: float) -> None:
        """Begin to claim work."""
        self._at_once, self._poll = at_once, poll_seconds
        self._thread.start()

    def wake(self) -> None:
        """Check the queue now; callable from any thread."""
        with suppress(OSError):  # a full pipe wakes the thread as well, and a closed one has no reader
            self._waker.send(b".")

    def finish(self, done: FinishedWork) -> None:
        """Write down soon that this is done."""
        with self._guard:
            self._done.append(done)
        self.wake()

    def stop(self) -> None:
        """Stop claiming work."""
        self._stopping.set()
        self.wake()
        self._thread.join()

    def close(self) -> None:
        """Write down what was done since then."""
        try:
            self._turn(0)
        except sa.exc.DBAPIError:
            log.exception("What was done last could not be written down; it is done again at the next start.")
        self._woken.close()
        self._waker.close()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with _notifications(self._engine) as lines:
                    self._follow(lines)
            except Exception:
                log.exception("The queue watch was disconnected; it starts again.")
                self._stopping.wait(AGAIN_SECONDS)

    def _follow(self, lines: list[Any]) -> None:
        with self._engine.begin() as tx:
            self._rows.requeue(tx, [self._executor], running=self._held)
        while not self._stopping.is_set():
            self._turn(self._at_once - len(self._held))  # first of all: what came while nothing listened
            if not select.select([self._woken, *lines], [], [], self._poll)[0]:
                continue
            self._stopping.wait(max(0.0, self._turned + GATHER_SECONDS - time.monotonic()))
            with suppress(BlockingIOError):
                while self._woken.recv(4096):
                    pass
            for line in lines:
                for _ in line.notifies(timeout=0):
                    pass

    def _turn(self, room: int) -> None:
        self._turned = time.monotonic()
        with self._guard:
            done = list(self._done)
        with self._engine.begin() as tx:
            self._rows.finish(tx, done, executor=self._executor)
            claimed = self._rows.claim(tx, executor=self._executor, room=room) if room > 0 else []
        self._held |= {one.id for one in claimed}
        self._held -= {one.work.id for one in done}
        with self._guard:
            del self._done[: len(done)]
        if claimed:
            self._start(claimed)


@contextmanager
def _notifications(engine: sa.Engine) -> Iterator[list[Any]]:
    """Listen on a connection of its own, if the database can notify."""
    if engine.dialect.name != "postgresql":
        yield []
        return
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        listening = connection.connection.driver_connection
        connection.detach()  # closed at the end, not returned to the pool: it would keep listening
        connection.exec_driver_sql(f"LISTEN {CHANNEL}")
        yield [listening]
