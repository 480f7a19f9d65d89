"""How the database is opened: one writer, readers that cannot write, and the work engine's own door."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

BUSY_MS = 30_000
APPEND_LOCK = 0x6D6964
"""PostgreSQL's advisory lock: one writer at a time, so that seq has no gaps for readers."""
# A process stopped (SIGSTOP, a suspended laptop) inside a transaction would hold the append lock for ever.
POSTGRES_LIMITS = "-c idle_in_transaction_session_timeout=3000 -c lock_timeout=15000 -c timezone=UTC"


def is_sqlite(url: str) -> bool:
    """Tell the two databases apart by their address."""
    return url.startswith("sqlite")


def sqlite_path(url: str) -> Path:
    """Find the file behind an SQLite address."""
    return Path(url.removeprefix("sqlite:///"))


def _driver(url: str, *, sync: bool) -> str:
    if is_sqlite(url):
        return url if sync else url.replace("sqlite://", "sqlite+aiosqlite://", 1)
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


def _pragmas(dbapi: Any, *lines: str) -> None:
    for line in lines:
        dbapi.execute(f"PRAGMA {line}").close()


def open_writer(url: str) -> sa.Engine:
    """Every transaction takes the journal's one lock at BEGIN, so nothing upgrades and nothing deadlocks."""
    if is_sqlite(url):
        engine = sa.create_engine(url, pool_size=1, max_overflow=0)
        _write_at_begin(engine)
        return engine
    # Not asked "are you there?" at each use, which costs a round trip: the pen repeats what a lost line cut off.
    engine = sa.create_engine(
        _driver(url, sync=True),
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
        _pragmas(raw, "synchronous=NORMAL")  # heeded outside a transaction only
        try:
            with line.begin():
                yield line
        finally:
            _pragmas(raw, "synchronous=FULL")


def open_lease_writer(url: str) -> AsyncEngine:
    """Open PostgreSQL for what is written beside the journal: a beat never waits for the append lock."""
    return create_async_engine(
        _driver(url, sync=False), pool_size=2, pool_pre_ping=True, connect_args={"options": POSTGRES_LIMITS}
    )


def open_sync_writer(url: str) -> sa.Engine:
    """Open the same for migrations and rebuilds, which are quicker without a loop."""
    if not is_sqlite(url):
        return sa.create_engine(_driver(url, sync=True), pool_pre_ping=True)
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
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
        _pragmas(dbapi, f"busy_timeout={BUSY_MS}", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")

    @sa.event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def open_reader(url: str) -> AsyncEngine:
    """Snapshot reads that never wait for the writer and cannot write."""
    if not is_sqlite(url):
        return create_async_engine(
            _driver(url, sync=False),
            pool_size=4,
            pool_pre_ping=True,
            isolation_level="AUTOCOMMIT",  # BEGIN and ROLLBACK around a read are two round trips for nothing
            connect_args={"options": "-c default_transaction_read_only=on -c timezone=UTC"},
        )
    engine = create_async_engine(_driver(url, sync=False), pool_size=4)

    @sa.event.listens_for(engine.sync_engine, "connect")
    def connected(dbapi: Any, _: Any) -> None:
        dbapi.isolation_level = None
        _pragmas(dbapi, f"busy_timeout={BUSY_MS}", "query_only=ON")

    @sa.event.listens_for(engine.sync_engine, "begin")
    def begun(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def open_for_audit(url: str) -> sa.Engine:
    """Open for reading everything in one snapshot; nothing can be written through it."""
    if not is_sqlite(url):
        limits = {"options": "-c default_transaction_read_only=on -c timezone=UTC"}
        return sa.create_engine(_driver(url, sync=True), isolation_level="REPEATABLE READ", connect_args=limits)
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
    """Open for DBOS, which reads a lot: IMMEDIATE mode begins at its first write only, so its reads never lock."""
    if not is_sqlite(url):
        return sa.create_engine(
            _driver(url, sync=True), pool_size=10, pool_pre_ping=True, connect_args={"options": POSTGRES_LIMITS}
        )
    engine = sa.create_engine(url, pool_size=10)

    @sa.event.listens_for(engine, "connect")
    def connected(dbapi: Any, _: Any) -> None:
        dbapi.isolation_level = "IMMEDIATE"
        _pragmas(dbapi, f"busy_timeout={BUSY_MS}", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")

    return engine


def open_bare(url: str) -> sqlite3.Connection:
    """Open a bare connection for `PRAGMA data_version`: through the reader engine's snapshot the counter froze."""
    return sqlite3.connect(sqlite_path(url), isolation_level=None, check_same_thread=False)
