"""The journal in the database: `record` is the only way to change anything in Midwatch."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import sqlalchemy as sa

from midwatch.errors import Stale
from midwatch.journal.entry import FIRST_CHAIN, Entry, Link, canonical, digest
from midwatch.journal.events import Event
from midwatch.journal.follows import follows
from midwatch.ports.clock import Clock, Ids
from midwatch.ports.journal import Queue
from midwatch.store.projectors import project
from midwatch.store.read.entries import JournalReader, placed, read_entry
from midwatch.store.reader import DatabaseReader
from midwatch.store.redaction import Draft, Scrub, clean_text, drafted
from midwatch.store.schema.columns import to_micros
from midwatch.store.schema.tables import journal
from midwatch.store.writer import DatabaseWriter

# Built once: making a statement costs more than sending it.
SEEN_OR_HEAD = (
    sa.select(journal.c.seq, journal.c.key, journal.c.kind, journal.c.payload_hash, journal.c.chain)
    .where(
        (journal.c.key == sa.bindparam("first"))
        | (journal.c.seq == sa.select(sa.func.max(journal.c.seq)).scalar_subquery())
    )
    .order_by(journal.c.seq)
)
"""One round trip for "seen before?" and the head."""
HEAD_SEQ = sa.select(sa.func.coalesce(sa.func.max(journal.c.seq), 0)).scalar_subquery()
APPEND = journal.insert().from_select(
    [column.name for column in journal.c],
    sa.select(*(sa.bindparam(column.name, type_=column.type) for column in journal.c)).where(
        sa.bindparam("before", type_=sa.BigInteger) == HEAD_SEQ,
        ~sa.exists().where(journal.c.key == sa.bindparam("key")),
    ),
)
"""Writes only behind the expected head and under an unused key, so no read is needed first."""
APPEND_HERE = APPEND.returning(journal.c.seq)
APPEND_AND_NOTIFY = APPEND.returning(sa.func.pg_notify("journal", sa.cast(journal.c.seq, sa.Text)))
"""Delivered at commit, to every listening process."""


class Appended(NamedTuple):
    """What was written, and where the journal ends now; no head means that it was written before."""

    entries: tuple[Entry, ...]
    head: tuple[int, str] | None
    queued: bool = False


class SqlJournal(JournalReader):
    """Appends, projects and queues in one transaction: all or nothing, even if the process is killed."""

    def __init__(
        self,
        writer: DatabaseWriter,
        reader: DatabaseReader,
        *,
        url: str,
        clock: Clock,
        ids: Ids,
        scrub: Scrub | None = None,
    ) -> None:
        super().__init__(reader, url=url)
        self._writer = writer
        self._clock = clock
        self._ids = ids
        self._scrub = scrub
        self._postgres = writer.engine.dialect.name == "postgresql"
        self._head = (0, FIRST_CHAIN)
        self._open: tuple[sa.Connection | None, tuple[int, str]] = (None, self._head)
        self.queue: Queue | None = None
        self.listeners: list[Callable[[tuple[Entry, ...]], None]] = []

    async def record(
        self, *events: Event, key: str = "", actor: str = "midwatch", because: Iterable[int] = ()
    ) -> tuple[Entry, ...]:
        """Append the events, project them and queue what follows, in one transaction."""
        draft = Draft(events, (), actor, key or self._ids.new("key"), tuple(because))
        draft = await drafted(draft, self._scrub)
        committed = partial(self._committed, asyncio.get_running_loop())
        appended: Appended = await self._writer.write(partial(self._append, draft=draft), committed)
        return appended.entries

    def _committed(self, loop: asyncio.AbstractEventLoop, appended: Appended) -> None:
        """Notify the queue and, in the loop, the listeners: before the caller resumes, and even if it was cancelled."""
        if appended.head is None:
            return
        self._head = max(self._head, appended.head)
        if appended.queued and self.queue:
            self.queue.committed()
        with contextlib.suppress(RuntimeError):  # the loop is closed: no listener is left
            loop.call_soon_threadsafe(self._tell, appended.entries)

    def _tell(self, entries: tuple[Entry, ...]) -> None:
        for listener in self.listeners:
            listener(entries)

    def _append(self, tx: sa.Connection, draft: Draft) -> Appended:
        at = self._clock.now()
        place, written, follow = self._open[1] if self._open[0] is tx else self._head, [], []
        for i, (event, name, body) in enumerate(zip(draft.events, draft.keys, draft.bodies, strict=True)):
            entry = Entry(seq=place[0] + 1, at=at, actor=draft.actor, key=name, because=draft.because, event=event)
            chain = self._insert(tx, entry, body, place)
            if chain is None and i == 0:  # another process wrote first, or this key is used
                rows = tx.execute(SEEN_OR_HEAD, {"first": name}).all()
                if any(row.key == name for row in rows):
                    return Appended(self._written_before(tx, draft), None)
                place = (rows[-1].seq, rows[-1].chain) if rows else (0, FIRST_CHAIN)
                entry = replace(entry, seq=place[0] + 1)
                chain = self._insert(tx, entry, body, place)
            if chain is None:
                raise Stale(f"The key {name} was used before, for something else.", hint="Use a new key.")
            project(tx, entry)
            follow += [(work, entry.seq) for work in follows(event)]
            written.append(entry)
            place = (entry.seq, chain)
        for work, seq in follow if self.queue else ():  # only now, so that a refused event queues nothing
            self.queue.put(tx, work, seq=seq)  # type: ignore[union-attr]
        self._open = (tx, place)
        return Appended(tuple(written), place, bool(follow))

    def _insert(self, tx: sa.Connection, entry: Entry, body: str, place: tuple[int, str]) -> str | None:
        """Append after that place and return the new end of the chain; None if the place is taken or the key used."""
        link = Link(
            seq=entry.seq,
            at_us=to_micros(entry.at),
            actor=entry.actor,
            key=entry.key,
            because=canonical(list(entry.because)),
            kind=entry.event.kind,
            payload_hash=digest(body),
        )
        before, chain = place[0], link.chained_to(place[1])
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
            "before": before,
        }
        appended = tx.execute(APPEND_AND_NOTIFY if self._postgres else APPEND_HERE, values).first()
        return None if appended is None else chain

    def _written_before(self, tx: sa.Connection, draft: Draft) -> tuple[Entry, ...]:
        """Give what was recorded the first time; the same key for anything else is an error."""
        # One more: the first call may have written more events under this key.
        asked = [*draft.keys, f"{draft.key}#{len(draft.events)}"]
        rows = tx.execute(sa.select(journal).where(journal.c.key.in_(asked)).order_by(journal.c.seq)).all()
        pairs = list(zip(rows, draft.events, draft.bodies, strict=False))
        if len(rows) != len(draft.events) or not all(self._same(*pair) for pair in pairs):
            raise Stale(f"The key {draft.key} was used before, for something else.", hint="Use a new key.")
        return tuple(placed(row, event) for row, event, _ in pairs)

    def _same(self, row: Any, event: Event, body: str) -> bool:
        """Compare with what was written; a secret that was added since then makes no difference."""
        if row.kind != event.kind or row.payload_hash == digest(body):
            return bool(row.kind == event.kind)
        if self._scrub is None or row.payload is None:
            return False
        return canonical(self._scrub(row.kind, json.loads(row.payload))) == body

    async def known(self, key: str) -> Entry | None:
        key = clean_text(key, self._scrub)
        row = await self._reader.first(sa.select(journal).where(journal.c.key == key))
        return None if row is None else read_entry(row)
