"""A store on a database of its own, with a clock that moves by looking and ids that count."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from midwatch.store.journal import SqlJournal
from midwatch.store.read.records import SqlRecords
from midwatch.store.reader import DatabaseReader
from midwatch.store.rebuild import fingerprint
from midwatch.store.schema.engines import open_sync_writer
from midwatch.store.schema.tables import PROJECTED, journal, meta
from midwatch.store.writer import DatabaseWriter
from tests.stepped_clock import SteppedClock

EVENING = datetime(2026, 3, 1, 21, 0, tzinfo=UTC)


class CountedIds:
    """Ids that are the same in every run."""

    def __init__(self) -> None:
        self._last = 0

    def new(self, prefix: str) -> str:
        self._last += 1
        return f"{prefix}_{self._last:04}"


@dataclass(frozen=True, slots=True)
class Store:
    """Everything a test needs to write, read and look behind."""

    url: str
    clock: SteppedClock
    writer: DatabaseWriter
    reader: DatabaseReader
    journal: SqlJournal
    records: SqlRecords
    sync: sa.Engine

    @contextmanager
    def behind(self) -> Iterator[sa.Connection]:
        """A connection past every promise, for looking and for tampering."""
        with self.sync.begin() as connection:
            yield connection

    def everything(self) -> dict[str, str]:
        """A hash of each table of records."""
        with self.behind() as connection:
            return fingerprint(connection)

    def empty(self) -> None:
        """Begin anew; quicker than another database."""
        with self.behind() as connection:
            for table in (journal, *PROJECTED):
                connection.execute(table.delete())

    def counts(self, *tables: str) -> tuple[int, ...]:
        """How many rows each table has."""
        with self.behind() as connection:
            return tuple(
                connection.execute(sa.select(sa.func.count()).select_from(meta.tables[name])).scalar_one()
                for name in tables
            )


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Store]:
    """Open a store on a database that has today's shape."""
    clock, writer, reader = SteppedClock(EVENING), DatabaseWriter(url), DatabaseReader(url)
    journal = SqlJournal(writer, reader, url=url, clock=clock, ids=CountedIds())
    sync = open_sync_writer(url)
    try:
        yield Store(url, clock, writer, reader, journal, SqlRecords(reader), sync)
    finally:
        sync.dispose()
        await writer.close()
        await reader.close()
