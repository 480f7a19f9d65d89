"""How the database is opened: one writer, readers that cannot write, and the work engine's own connections."""

import sqlite3
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

if TYPE_CHECKING:  # importing it imports the ORM, and only the lease on PostgreSQL needs it
    from sqlalchemy.ext.asyncio import AsyncEngine

BUSY_MS = 30_000
READERS = 4
"""How many reads run at once."""
APPEND_LOCK = 0x6D6964
"""PostgreSQL's advisory lock: one writer at a time, so that seq has no gaps for readers."""
# A process stopped (SIGSTOP, a suspended laptop) inside a transaction would hold the append lock for ever.
POSTGRES_LIMITS = "-c idle_in_transaction_session_timeout=3000 -c lock_timeout=15000 -c timezone=UTC"


ENGINE_LIMITS = f"{POSTGRES_LIMITS} -c synchronous_commit=off"
"""What the work engine writes need not last a power cut: work that is no longer known to be done is done again."""


class WriteTurns:
    """First come, first served among this process's SQLite connections that write.

    SQLite lets a connection that finds the file locked sleep and try again, up to 100 ms later, however short the lock
    was. Within one process they can wait for each other instead.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._taken = False

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def take(self) -> None:
        """Wait for a turn; after the busy timeout continue without one, and let SQLite decide."""
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            mine = threading.Event()
            self._waiting.append(mine)
        if not mine.wait(BUSY_MS / 1000):
            with self._guard:
                if not mine.is_set():
                    self._waiting.remove(mine)

    def give(self) -> None:
        """Hand the turn to the next."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False


_turns: dict[Path, WriteTurns] = {}
WRITES = ("INSERT ", "UPDATE ", "DELETE ", "REPLACE")
"""What the driver begins a transaction for."""


class TurnConnection(sqlite3.Connection):
    """A connection that keeps its turn from its first write to the end of the transaction."""

    turns: WriteTurns | None = None
    has_turn = False

    def take_turn(self) -> None:
        """Wait until no other connection of this process writes."""
        if self.turns is not None and not self.has_turn:
            self.turns.take()
            self.has_turn = True

    def _give_turn(self) -> None:
        if self.turns is not None and self.has_turn:
            self.has_turn = False
            self.turns.give()

    def commit(self) -> None:
        """Commit, then let the next write."""
        super().commit()
        self._give_turn()

    def rollback(self) -> None:
        """Roll back, then let the next write."""
        try:
            super().rollback()
        finally:
            self._give_turn()

    def close(self) -> None:
        """Close, then let the next write."""
        try:
            super().close()
        finally:
            self._give_turn()


def is_sqlite(url: str) -> bool:
    """Whether an address is SQLite's."""
    return url.startswith("sqlite")


def sqlite_path(url: str) -> Path:
    """Find the file behind an SQLite address."""
    return Path(url.removeprefix("sqlite:///"))


def write_turns(url: str) -> WriteTurns:
    """Give the turns of all connections of this process to one SQLite file."""
    return _turns.setdefault(sqlite_path(url), WriteTurns())


def _driver(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


def _pragmas(dbapi: Any, *lines: str) -> None:
    for line in lines:
        dbapi.execute(f"PRAGMA {line}").close()


def open_writer(url: str) -> sa.Engine:
    """Every transaction takes the journal's one lock at BEGIN, so nothing upgrades and nothing deadlocks."""
    if is_sqlite(url):
        engine = sa.create_engine(url, pool_size=1, max_overflow=0, connect_args={"factory": TurnConnection})
        _write_at_begin(engine)
        return engine
    # No ping before each use, which costs a round trip: after a lost connection writer, readers and engine repeat work.
    engine = sa.create_engine(
        _driver(url),
        pool_size=1,
        max_overflow=0,
        isolation_level="AUTOCOMMIT",  # the driver never begins by itself; the listener below does
        connect_args={"options": POSTGRES_LIMITS},
    )
    _append_at_begin(engine)
    return engine


@contextmanager
def begin_unsynced(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Begin a transaction that does not wait for the disk: a power cut may undo it, as a whole, and nothing else."""
    with engine.connect() as line:
        if engine.dialect.name != "sqlite":
            with line.begin():
                line.exec_driver_sql("SET LOCAL synchronous_commit TO OFF")
                yield line
            return
        raw = line.connection.dbapi_connection
        _pragmas(raw, "synchronous=NORMAL")  # takes effect outside a transaction only
        try:
            with line.begin():
                yield line
        finally:
            _pragmas(raw, "synchronous=FULL")


def open_lease_writer(url: str) -> "AsyncEngine":
    """Open PostgreSQL for what is written beside the journal: a heartbeat never waits for the append lock."""
    from sqlalchemy.ext.asyncio import create_async_engine  # noqa: PLC0415  as above

    return create_async_engine(_driver(url), pool_size=2, pool_pre_ping=True, connect_args={"options": POSTGRES_LIMITS})


def open_sync_writer(url: str) -> sa.Engine:
    """Open the same for migrations and rebuilds, which are quicker without a loop."""
    if not is_sqlite(url):
        return sa.create_engine(_driver(url), pool_pre_ping=True)
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool, connect_args={"factory": TurnConnection})
    _write_at_begin(engine)
    return engine


def _append_at_begin(engine: sa.Engine) -> None:
    # Two statements in one round trip; what is read after them sees all that the last holder of the lock wrote.
    begin_and_lock = f"BEGIN; SELECT pg_advisory_xact_lock({APPEND_LOCK})"

    @sa.event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        connection.exec_driver_sql(begin_and_lock)


def _write_at_begin(engine: sa.Engine) -> None:
    @sa.event.listens_for(engine, "connect")
    def connected(dbapi: Any, _: Any) -> None:
        dbapi.isolation_level = None  # the driver never begins by itself; the listener below does
        dbapi.turns = write_turns(str(engine.url))
        _pragmas(dbapi, f"busy_timeout={BUSY_MS}", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")

    @sa.event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        _take_turn(connection)
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _take_turn(connection: sa.Connection) -> None:
    raw: object = connection.connection.dbapi_connection
    if isinstance(raw, TurnConnection):
        raw.take_turn()


def open_reader(url: str) -> sa.Engine:
    """Reads that never wait for the writer and cannot write; each statement sees one state."""
    if not is_sqlite(url):
        return sa.create_engine(
            _driver(url),
            pool_size=READERS,
            isolation_level="AUTOCOMMIT",  # BEGIN and ROLLBACK around a read are two round trips for nothing
            connect_args={"options": "-c default_transaction_read_only=on -c timezone=UTC"},
        )
    engine = sa.create_engine(url, pool_size=READERS)

    @sa.event.listens_for(engine, "connect")
    def connected(dbapi: Any, _: Any) -> None:
        dbapi.isolation_level = None
        _pragmas(dbapi, f"busy_timeout={BUSY_MS}", "query_only=ON")

    return engine


def open_for_audit(url: str) -> sa.Engine:
    """Open for reading everything in one snapshot; nothing can be written through it."""
    if not is_sqlite(url):
        limits = {"options": "-c default_transaction_read_only=on -c timezone=UTC"}
        return sa.create_engine(_driver(url), isolation_level="REPEATABLE READ", connect_args=limits)
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool)

    @sa.event.listens_for(engine, "connect")
    def connected(dbapi: Any, _: Any) -> None:
        dbapi.isolation_level = None
        _pragmas(dbapi, f"busy_timeout={BUSY_MS}", "query_only=ON")

    @sa.event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def open_for_engine(url: str) -> sa.Engine:
    """Open for the work queue: IMMEDIATE mode begins at the first write only, so reads never lock."""
    if not is_sqlite(url):
        return sa.create_engine(_driver(url), pool_size=10, connect_args={"options": ENGINE_LIMITS})
    engine = sa.create_engine(url, pool_size=10, connect_args={"factory": TurnConnection})

    @sa.event.listens_for(engine, "connect")
    def connected(dbapi: Any, _: Any) -> None:
        dbapi.isolation_level = "IMMEDIATE"
        dbapi.turns = write_turns(str(engine.url))
        # NORMAL: as with PostgreSQL's synchronous_commit=off above. The file stays whole, whatever is lost.
        _pragmas(dbapi, f"busy_timeout={BUSY_MS}", "journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON")

    @sa.event.listens_for(engine, "before_cursor_execute")
    def executes(connection: sa.Connection, _: Any, statement: str, *__: Any) -> None:
        if statement.lstrip()[:7].upper() in WRITES:
            _take_turn(connection)

    return engine


def open_bare(url: str) -> sqlite3.Connection:
    """Open a bare connection for `PRAGMA data_version`: through the reader engine's snapshot the counter froze."""
    return sqlite3.connect(sqlite_path(url), isolation_level=None, check_same_thread=False)
