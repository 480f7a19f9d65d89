"""DBOS behind one interface: configured, started in our event loop, fed in our transactions."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer

from midwatch.engine.queue_watch import NOTIFY, QueueWatch, claim_queued
from midwatch.engine.workflows import WORKFLOW, Perform, set_performer
from midwatch.journal.follows import QueuedWork

NAME = "midwatch"
SCHEMA = "engine"
QUEUE = "work"
AT_ONCE = 200
"""More than the settings let jobs run at once (100): a round never waits behind stages, which run for minutes."""
UNUSED_POLL_SECONDS = 60.0
"""How often DBOS looks for its own schedules and its own queue; we use neither."""
MESSAGE_POLL_SECONDS = 0.5
"""How often DBOS looks for messages between workflows. We send none, and looking costs nothing then; but its thread
sleeps that long before it notices the shutdown, and a longer sleep makes the shutdown wait ten seconds."""
SINGLE = "single"
"""SQLite has one constant executor, the process with the folder's lock, so that DBOS finds its work again."""


class DbosQueue:
    """Queues work inside the caller's transaction; a worker is woken when it commits."""

    def __init__(self, engine: sa.Engine) -> None:
        self._notifies = engine.dialect.name == "postgresql"
        self.watch: QueueWatch | None = None
        # Lazy: the client never opens a connection of its own for this.
        self._client = DBOSClient(
            system_database_engine=engine,
            dbos_system_schema=SCHEMA,
            application_name=NAME,
            serializer=DBOSPortableJSONSerializer(),
            lazy=True,
        )

    def put(self, connection: object, work: QueuedWork, *, seq: int) -> None:
        assert isinstance(connection, sa.Connection)  # noqa: S101  opaque to the caller, not to us
        self._client.enqueue_in_transaction(
            connection,
            {
                "workflow_name": WORKFLOW,
                "queue_name": QUEUE,
                "workflow_id": f"{work.name}-{seq}",
            },
            work.name,
            work.args,
            seq,
        )
        if self._notifies:
            connection.execute(NOTIFY)  # delivered at commit, to every worker

    def committed(self) -> None:
        """Wake this process's worker after the commit. On PostgreSQL the database has done so."""
        if self.watch is not None and not self._notifies:
            self.watch.wake()


class WorkEngine:
    """Runs queued work, again after a crash, until it is done."""

    def __init__(self, engine: sa.Engine, *, executor: str, poll_seconds: float) -> None:
        self._engine = engine
        self.executor = executor
        self._poll = poll_seconds
        self.queue = DbosQueue(engine)

    async def start(self, perform: Perform) -> None:
        """Start DBOS in the running event loop, so that queued and recovered work runs there."""
        set_performer(perform)
        config: DBOSConfig = {
            "name": NAME,
            "system_database_engine": self._engine,
            "dbos_system_schema": SCHEMA,
            "executor_id": self.executor,
            "application_version": "1",  # fixed: recovery looks for the same version only
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "ERROR",
            "notification_listener_polling_interval_sec": MESSAGE_POLL_SECONDS,
            "scheduler_polling_interval_sec": UNUSED_POLL_SECONDS,
        }
        dbos = DBOS(config=config)
        dbos._registry.get_internal_queue()._polling_interval_sec = UNUSED_POLL_SECONDS  # noqa: SLF001  not settable
        DBOS.launch()
        queue = await DBOS.register_queue_async(
            QUEUE, worker_concurrency=AT_ONCE, polling_interval_sec=self._poll, on_conflict="always_update"
        )
        self.queue.watch = QueueWatch(self._engine, lambda: claim_queued(queue))

    def recover(self, executors: list[str]) -> None:
        """Take over the work of dead workers; blocking, so call it from a thread."""
        DBOS._recover_pending_workflows(executors)  # noqa: SLF001  the open package has no public way

    async def stop(self) -> None:
        """Stop; work in progress stays pending and resumes at the next start."""
        # Interrupted work makes DBOS log tracebacks about its own shutdown; they need no action.
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        if self.queue.watch is not None:
            await asyncio.to_thread(self.queue.watch.stop)
        await asyncio.to_thread(DBOS.destroy)
        # DBOS made its own pool the loop's default and has shut it down: the rest of this process needs a new one.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(thread_name_prefix="midwatch"))
