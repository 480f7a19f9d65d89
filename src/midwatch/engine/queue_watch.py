"""Starts queued work as soon as it is committed. DBOS only polls its queue; the poll remains as a fallback."""

import logging
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import sqlalchemy as sa
from dbos import Queue
from dbos._core import execute_dequeued_workflow
from dbos._dbos import _get_dbos_instance
from dbos._utils import GlobalParams, generate_uuid

CHANNEL = "midwatch_work"
NOTIFY = sa.select(sa.func.pg_notify(CHANNEL, ""))
"""PostgreSQL merges equal notifications of a transaction and delivers one when it commits."""
AGAIN_SECONDS = 1.0
GATHER_SECONDS = 0.02
"""The minimum time between two claims: the first of a burst starts at once, the rest together."""
log = logging.getLogger("midwatch.engine")


class QueueWatch:
    """A thread that claims work when this process queues some, or when the database notifies it of any."""

    def __init__(self, engine: sa.Engine, claim: Callable[[], None]) -> None:
        self._engine = engine
        self._claim = claim
        self._stopping = threading.Event()
        self._woken, self._waker = socket.socketpair()
        self._woken.settimeout(0.0)
        self._waker.settimeout(0.0)
        self._thread = threading.Thread(target=self._run, name="queue-watch", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Check the queue now; callable from any thread."""
        with suppress(OSError):  # a full pipe wakes the thread as well, and a closed one has no reader
            self._waker.send(b".")

    def stop(self) -> None:
        """Stop claiming work."""
        self._stopping.set()
        self.wake()
        self._thread.join()
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
        while not self._stopping.is_set():
            self._claim()  # first of all: what came while nothing listened
            self._stopping.wait(GATHER_SECONDS)
            select.select([self._woken, *lines], [], [])
            with suppress(BlockingIOError):
                while self._woken.recv(4096):
                    pass
            for line in lines:
                for _ in line.notifies(timeout=0):
                    pass


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


def claim_queued(queue: Queue) -> None:
    """Claim and start what is queued, as the poll of DBOS does; both may claim at the same time."""
    dbos, owner = _get_dbos_instance(), generate_uuid()
    running = dbos._active_workflows_set.count_for_queue(queue.name)  # noqa: SLF001  the open package has no public way
    claimed, _ = dbos._sys_db.start_queued_workflows(  # noqa: SLF001
        queue, GlobalParams.executor_id, GlobalParams.app_version, None, running, owner_xid=owner
    )
    for status in dbos._sys_db.get_workflow_statuses(claimed) if claimed else ():  # noqa: SLF001
        try:
            execute_dequeued_workflow(dbos, status, owner)
        except Exception:
            log.exception("%s cannot be started.", status["workflow_uuid"])
