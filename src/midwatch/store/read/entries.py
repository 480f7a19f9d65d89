"""Reading the journal: pages of it, and following it as it grows."""

import asyncio
import json
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa

from midwatch.errors import Refused
from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.upcasts import read_event
from midwatch.store.reader import DatabaseReader
from midwatch.store.schema.columns import from_micros
from midwatch.store.schema.engines import is_sqlite, open_bare
from midwatch.store.schema.tables import journal

PAGE = 500


class JournalReader:
    """The journal, for reading only."""

    def __init__(self, reader: DatabaseReader, *, url: str) -> None:
        self._reader = reader
        self._url = url

    async def entries(self, *, after: int = 0, limit: int = 1000, kinds: tuple[str, ...] = ()) -> tuple[Entry, ...]:
        query = sa.select(journal).where(journal.c.seq > after, journal.c.payload.is_not(None))
        if kinds:
            query = query.where(journal.c.kind.in_(kinds))
        rows = await self._reader.rows(query.order_by(journal.c.seq).limit(limit))
        return tuple(read_entry(row) for row in rows)

    async def tail(self, *, after: int, gather: float = 0.0) -> AsyncIterator[Entry]:
        async with Wake(self._url) as wake:  # listening before the first read, so that nothing is missed
            while True:
                page = await self.entries(after=after, limit=PAGE)
                for entry in page:
                    after = entry.seq
                    yield entry
                if len(page) < PAGE:  # an entry appended after this page was read has already caused a wake-up
                    await wake.wait(gather)


def read_entry(row: Any) -> Entry:
    """Turn a row into an entry, upgrading old shapes."""
    if row.payload is None:
        raise Refused(
            f"The content of entry {row.seq} was redacted.", hint="Read it in a backup that was made before that."
        )
    return placed(row, read_event(row.kind, json.loads(row.payload)))


def placed(row: Any, event: Event) -> Entry:
    """Put an event where its row says it is."""
    return Entry(
        seq=row.seq,
        at=from_micros(row.at),
        actor=row.actor,
        key=row.key,
        because=tuple(json.loads(row.because)),
        event=event,
    )


POLL_SECONDS = 0.05
LISTEN_SECONDS = 30.0


class Wake:
    """PostgreSQL wakes by NOTIFY, SQLite by a counter of other connections' commits. A false wake never matters."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._last: object = None
        self._connection: Any = None

    async def __aenter__(self) -> Self:
        if is_sqlite(self._url):
            self._connection = open_bare(self._url)
        else:
            import psycopg  # noqa: PLC0415  an extra: only those who chose PostgreSQL have it

            self._connection = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
            await self._connection.execute("LISTEN journal")
        return self

    async def wait(self, gather: float = 0.0) -> None:
        """Return when it is worth looking; `gather` lets a burst come together first."""
        if not is_sqlite(self._url):
            async for _ in self._connection.notifies(timeout=LISTEN_SECONDS, stop_after=1):
                pass
            await asyncio.sleep(gather)
            async for _ in self._connection.notifies(timeout=0):
                pass
            return
        while (now := self._connection.execute("PRAGMA data_version").fetchone()) == self._last:  # noqa: ASYNC110  no event reaches us
            await asyncio.sleep(POLL_SECONDS)
        self._last = now

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if is_sqlite(self._url):
            self._connection.close()
        else:
            await self._connection.close()
