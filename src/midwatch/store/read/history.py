"""Reading windows of the journal: by number, by page, by what an entry is about, and what things are called."""

import re
from collections.abc import Collection, Iterable

import sqlalchemy as sa

from midwatch.journal.entry import Entry, canonical
from midwatch.store.read.entries import read_entry
from midwatch.store.reader import DatabaseReader
from midwatch.store.schema import tables
from midwatch.store.schema.tables import journal
from midwatch.views.text.names import Called

NEAR = 2000
"""How many entries back a thing is looked for one by one, before the index by kind is asked."""
ID = re.compile(r'"((prj|ses|run|job|ask|pr|stk|work|act)_\w+)"')
NOUNS: dict[str, tuple[sa.Table, str]] = {
    "prj": (tables.projects, "project"),
    "ses": (tables.sessions, "night"),
    "run": (tables.runs, "run"),
    "job": (tables.jobs, "job"),
    "ask": (tables.asks, "ask"),
    "pr": (tables.pull_requests, "pull request"),
    "stk": (tables.stacks, "stack"),
    "work": (tables.work_items, "work"),
    "act": (tables.acts, "act"),
}
"""Everything that has a name people use, by the prefix of its id."""
COLUMNS = {"number": "number", "name": "title", "title": "title", "project": "project", "session": "session"}
"""Columns that say what a thing is called and where it belongs, with the field they fill."""


class SqlHistory:
    """The journal for readers who want a part of it."""

    def __init__(self, reader: DatabaseReader) -> None:
        self._reader = reader

    async def failed_work(self) -> tuple[tuple[int, str], ...]:
        """Read which queued work failed: the entry that asked for it, and the error. It is not tried again."""
        failed = sa.select(tables.queued_work.c.seq, tables.queued_work.c.error).where(tables.queued_work.c.error != "")
        return tuple((row.seq, row.error) for row in await self._reader.rows(failed.order_by(tables.queued_work.c.seq)))

    async def at(self, seqs: Iterable[int]) -> tuple[Entry, ...]:
        """Read single entries by their numbers, in order; those that do not exist are left out."""
        wanted = sorted(set(seqs))
        return await self._read(sa.select(journal).where(journal.c.seq.in_(wanted))) if wanted else ()

    async def window(self, *, after: int = 0, upto: int | None = None, limit: int = 1000) -> tuple[Entry, ...]:
        """Read entries in order from one place to another, at most so many."""
        query = sa.select(journal).where(journal.c.seq > after)
        if upto is not None:
            query = query.where(journal.c.seq <= upto)
        return await self._read(query.limit(limit))

    async def about(
        self, things: Collection[str], kinds: Collection[str], *, after: int = 0, upto: int | None = None
    ) -> tuple[Entry, ...]:
        """Read all entries of some kinds whose text names one of these ids."""
        if not things or not kinds:
            return ()
        query = sa.select(journal).where(journal.c.seq > after, journal.c.kind.in_(kinds), _names(things))
        return await self._read(query if upto is None else query.where(journal.c.seq <= upto))

    async def last_about(
        self, things: Collection[str], kinds: Collection[str], *, before: int, after: int = 0
    ) -> Entry | None:
        """Read the newest entry of some kinds, between two places, whose text names one of these ids."""
        if not things or not kinds:
            return None
        newest = (
            sa.select(journal)
            .where(journal.c.seq > after, journal.c.seq < before, _names(things))
            .order_by(journal.c.seq.desc())
        )
        # Joined to a text the index by kind is not used: the nearest entries are walked through one by one.
        near = newest.where(journal.c.seq >= before - NEAR, (journal.c.kind + "").in_(kinds))
        far = newest.where(journal.c.seq < before - NEAR, journal.c.kind.in_(kinds))
        row = await self._reader.first(near.limit(1))
        if row is None and before - NEAR > after:
            row = await self._reader.first(far.limit(1))
        return None if row is None or row.payload is None else read_entry(row)

    async def owned_by(self, thing: str) -> tuple[str, ...]:
        """Find the jobs of a run or work item, and the asks about a thing."""
        jobs, asks = tables.jobs, tables.asks
        mine = sa.select(jobs.c.id).where((jobs.c.run == thing) | (jobs.c.work_item == thing))
        about = sa.select(asks.c.id).where(asks.c.subject == thing)
        if (session := _session_of(thing)) is not None:  # both tables are indexed by it
            mine, about = mine.where(jobs.c.session == session), about.where(asks.c.session == session)
        return tuple([row[0] for row in await self._reader.rows(mine.union_all(about))])

    async def owners_of(self, ids: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Which run and work item each job belongs to, and what each ask is about."""
        jobs, asks = tables.jobs, tables.asks
        mine = sa.select(jobs.c.id, jobs.c.run, jobs.c.work_item).where(jobs.c.id.in_(ids))
        about = sa.select(asks.c.id, asks.c.subject).where(asks.c.id.in_(ids))
        rows = [*await self._reader.rows(mine), *await self._reader.rows(about)]
        return {row[0]: tuple(row[1:]) for row in rows}

    @staticmethod
    def mentioned(entries: Iterable[Entry]) -> set[str]:
        """Find the ids of named things in the text of entries."""
        return {found[1] for entry in entries for found in ID.finditer(entry.event.model_dump_json())}

    async def last_of(self, kinds: Collection[str]) -> Entry | None:
        newest = sa.select(sa.func.max(journal.c.seq)).where(journal.c.kind.in_(kinds)).scalar_subquery()
        found = await self._read(sa.select(journal).where(journal.c.seq == newest))
        return found[0] if found else None

    async def called(self, ids: Iterable[str]) -> tuple[Called, ...]:
        by_prefix: dict[str, list[str]] = {}
        for name in ids:
            by_prefix.setdefault(name.partition("_")[0], []).append(name)
        found: list[Called] = []
        for prefix in NOUNS.keys() & by_prefix.keys():
            table, noun = NOUNS[prefix]
            rows = await self._reader.rows(_called(table, prefix).where(table.c.id.in_(by_prefix[prefix])))
            found += [Called(noun=noun, **row._asdict()) for row in rows]
        return tuple(found)

    async def _read(self, query: sa.Select[tuple[object, ...]]) -> tuple[Entry, ...]:
        query = query.where(journal.c.payload.is_not(None)).order_by(journal.c.seq)
        rows = await self._reader.rows(query)
        return tuple(read_entry(row) for row in rows)


def _session_of(thing: str) -> sa.ScalarSelect[str] | str | None:
    """Say in which night a thing is, if it is in one: jobs and asks about it are in the same."""
    prefix = thing.partition("_")[0]
    if prefix == "ses":
        return thing
    table, _ = NOUNS.get(prefix, (None, ""))
    if table is None or "session" not in table.c:
        return None
    return sa.select(table.c.session).where(table.c.id == thing).scalar_subquery()


def _names(things: Collection[str]) -> sa.ColumnElement[bool]:
    return sa.or_(*(journal.c.payload.contains(canonical(name), autoescape=True) for name in things))


def _called(table: sa.Table, prefix: str) -> sa.Select[tuple[object, ...]]:
    columns = [table.c.id, *(table.c[name].label(field) for name, field in COLUMNS.items() if name in table.c)]
    if prefix == "act":  # an act's number is unique only within its night; people know it by its kind
        columns = [table.c.id, table.c.kind.label("title"), table.c.project, table.c.session]
    elif prefix == "ses":
        columns += [table.c.ad_hoc, table.c.created_at.label("at")]
    elif prefix == "pr":
        jobs = tables.jobs
        columns.append(sa.select(jobs.c.session).where(jobs.c.id == table.c.job).scalar_subquery().label("session"))
    return sa.select(*columns)
