"""The journal in the database: `record` is the only way in which anything in the house ever changes."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from midwatch.errors import Refused, Stale
from midwatch.journal.entry import FIRST_CHAIN, Entry, Link, canonical, digest
from midwatch.journal.events import Event
from midwatch.journal.follows import follows
from midwatch.journal.port import Queue
from midwatch.journal.upcasts import read_event, write_event
from midwatch.store.columns import from_micros, to_micros
from midwatch.store.projectors import project
from midwatch.store.tables import journal
from midwatch.store.wake import Wake
from midwatch.terms.roles import Clock, Ids

APPEND_LOCK = 0x6D6964
"""PostgreSQL's advisory lock: one writer at a time, so that seq has no gaps for readers."""
PAGE = 500
# Built once: making a statement costs more than sending it.
SEEN_OR_HEAD = (
    sa.select(journal)
    .where(
        journal.c.key.in_(sa.bindparam("keys", expanding=True))
        | (journal.c.seq == sa.select(sa.func.max(journal.c.seq)).scalar_subquery())
    )
    .order_by(journal.c.seq)
)
"""One round trip for "seen before?" and the head."""
APPEND = journal.insert()
APPEND_AND_NOTIFY = journal.insert().returning(sa.func.pg_notify("journal", sa.cast(journal.c.seq, sa.Text)))
"""Delivered at commit, to every listening process."""


class SqlJournal:
    """Appends, projects and queues in one transaction; all or nothing, whatever kills us."""

    def __init__(self, writer: AsyncEngine, reader: AsyncEngine, *, url: str, clock: Clock, ids: Ids) -> None:
        self._writer = writer
        self._reader = reader
        self._url = url
        self._clock = clock
        self._ids = ids
        self._postgres = writer.dialect.name == "postgresql"
        self.queue: Queue | None = None
        self.listeners: list[Callable[[tuple[Entry, ...]], None]] = []

    async def record(
        self, *events: Event, key: str = "", actor: str = "midwatch", because: Iterable[int] = ()
    ) -> tuple[Entry, ...]:
        """Append the events, project them and queue what follows, in one transaction."""
        key = key or self._ids.new("key")
        reasons = tuple(because)
        async with self._writer.begin() as tx:
            if self._postgres:  # its own statement: a snapshot taken before the lock would be stale
                await tx.execute(sa.select(sa.func.pg_advisory_xact_lock(APPEND_LOCK)))
            written, fresh = await tx.run_sync(self._append, events, key, actor, reasons)
        if fresh:
            for listener in self.listeners:
                listener(written)
        return written

    def _append(
        self, tx: sa.Connection, events: Sequence[Event], key: str, actor: str, because: tuple[int, ...]
    ) -> tuple[tuple[Entry, ...], bool]:
        keys = [key if i == 0 else f"{key}#{i}" for i in range(len(events))]
        bodies = [canonical(write_event(event)) for event in events]
        asked = [*keys, f"{key}#{len(events)}"]  # one more: under this key more may have been written than is given now
        rows = tx.execute(SEEN_OR_HEAD, {"keys": asked}).all()
        before = [row for row in rows if row.key in asked]
        if before:
            given = [(event.kind, digest(body)) for event, body in zip(events, bodies, strict=True)]
            if [(row.kind, row.payload_hash) for row in before] != given:
                raise Stale(f"The key {key} was used before, for something else.", hint="Use a new key.")
            return tuple(_placed(row, event) for row, event in zip(before, events, strict=True)), False
        seq, chain = (rows[-1].seq, rows[-1].chain) if rows else (0, FIRST_CHAIN)
        at = self._clock.now()
        written = []
        for event, name, body in zip(events, keys, bodies, strict=True):
            seq += 1
            entry = Entry(seq=seq, at=at, actor=actor, key=name, because=because, event=event)
            chain = self._insert(tx, entry, body, chain)
            project(tx, entry)
            for work in follows(event) if self.queue else ():
                self.queue.put(tx, work, seq=seq)  # type: ignore[union-attr]
            written.append(entry)
        return tuple(written), True

    def _insert(self, tx: sa.Connection, entry: Entry, body: str, before: str) -> str:
        link = Link(
            seq=entry.seq,
            at_us=to_micros(entry.at),
            actor=entry.actor,
            key=entry.key,
            because=canonical(list(entry.because)),
            kind=entry.event.kind,
            payload_hash=digest(body),
        )
        chain = link.chained_to(before)
        values = {
            "seq": link.seq,
            "at": link.at_us,
            "actor": link.actor,
            "key": link.key,
            "because": link.because,
            "kind": link.kind,
            "payload": body,
            "payload_hash": link.payload_hash,
            "chain": chain,
        }
        tx.execute(APPEND_AND_NOTIFY if self._postgres else APPEND, values)
        return chain

    async def known(self, key: str) -> Entry | None:
        """Find the entry written under this key."""
        async with self._reader.connect() as connection:
            row = (await connection.execute(sa.select(journal).where(journal.c.key == key))).first()
        return None if row is None else read_entry(row)

    async def entries(self, *, after: int = 0, limit: int = 1000, kinds: tuple[str, ...] = ()) -> tuple[Entry, ...]:
        """Read entries in order."""
        query = sa.select(journal).where(journal.c.seq > after, journal.c.payload.is_not(None))
        if kinds:
            query = query.where(journal.c.kind.in_(kinds))
        async with self._reader.connect() as connection:
            rows = (await connection.execute(query.order_by(journal.c.seq).limit(limit))).all()
        return tuple(read_entry(row) for row in rows)

    async def tail(self, *, after: int) -> AsyncIterator[Entry]:
        """Follow the journal from any process, without gap or duplicate."""
        async with Wake(self._url) as wake:  # listening before the first read: nothing falls between
            while True:
                page = await self.entries(after=after, limit=PAGE)
                for entry in page:
                    after = entry.seq
                    yield entry
                if not page:
                    await wake.wait()
                else:
                    await asyncio.sleep(0)


def read_entry(row: Any) -> Entry:
    """Turn a row into an entry, lifting old shapes."""
    if row.payload is None:
        raise Refused(
            f"The content of entry {row.seq} was redacted.", hint="Read it in a backup that was made before that."
        )
    return _placed(row, read_event(row.kind, json.loads(row.payload)))


def _placed(row: Any, event: Event) -> Entry:
    return Entry(
        seq=row.seq,
        at=from_micros(row.at),
        actor=row.actor,
        key=row.key,
        because=tuple(json.loads(row.because)),
        event=event,
    )
