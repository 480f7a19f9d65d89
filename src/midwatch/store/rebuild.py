"""Rebuilding the records from the journal, comparing them, and checking the chain."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from midwatch.journal.entry import FIRST_CHAIN, Link, canonical, digest
from midwatch.store.projectors import project
from midwatch.store.read.entries import read_entry
from midwatch.store.schema.engines import open_for_audit
from midwatch.store.schema.tables import PROJECTED, journal, meta

BATCH = 2000


def _stream(connection: sa.Connection, query: sa.Select[Any]) -> sa.CursorResult[Any]:
    """Read piece by piece; close it, because PostgreSQL keeps a cursor open behind it."""
    # yield_per on the statement, never on the connection: there it would stick and reach our INSERTs too.
    return connection.execute(query.order_by(journal.c.seq).execution_options(yield_per=BATCH))


def rebuild(connection: sa.Connection, *, upto: int | None = None) -> int:
    """Empty the records and write them again from the journal, or from its first `upto` entries; say how many."""
    for table in PROJECTED:
        connection.execute(table.delete())
    query = sa.select(journal)
    if upto is not None:
        query = query.where(journal.c.seq <= upto)
    count = 0
    with _stream(connection, query) as rows:
        for row in rows:
            project(connection, read_entry(row))
            count += 1
    return count


def fingerprint(connection: sa.Connection) -> dict[str, str]:
    """Hash every record table in key order; the same rows give the same hashes on both databases."""
    hashes = {}
    for table in PROJECTED:
        hashed = ""
        for row in connection.execute(_as_stored(table)).mappings():
            hashed = digest(hashed, canonical(dict(row)))
        hashes[table.name] = hashed
    return hashes


@cache
def _as_stored(table: sa.Table) -> sa.Select[Any]:
    plain = sa.select(*(sa.type_coerce(column, _stored(column)).label(column.name) for column in table.c))
    return plain.order_by(table.c.id)


def _stored(column: sa.Column[Any]) -> sa.types.TypeEngine[Any]:
    kind = column.type
    return kind.impl_instance if isinstance(kind, sa.types.TypeDecorator) else kind


def verify_chain(connection: sa.Connection) -> tuple[int, str]:
    """Walk the whole chain; return how many entries hold and, if one does not, a sentence about the first."""
    with _stream(connection, sa.select(journal)) as rows:
        return _walk(rows)


def _walk(rows: Iterable[Any]) -> tuple[int, str]:
    chain, count = FIRST_CHAIN, 0
    for row in rows:
        expected = count + 1
        if row.seq != expected:
            return count, f"Entry {expected} is missing: after {count} comes {row.seq}."
        link = Link(
            seq=row.seq,
            at_us=row.at,
            actor=row.actor,
            key=row.key,
            because=row.because,
            kind=row.kind,
            payload_hash=row.payload_hash,
        )
        chain = link.chained_to(chain)
        if row.chain != chain:
            return count, f"Entry {row.seq} does not follow from the one before it."
        if row.payload is not None and digest(row.payload) != row.payload_hash:
            return count, f"The content of entry {row.seq} was changed after it was written."
        count += 1
    return count, ""


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found."""

    entries: int
    broken: str
    """A sentence about the first entry that does not hold, empty if all do."""
    differs: tuple[str, ...]
    """Tables that a rebuild would write differently."""


def audit(url: str) -> Audit:
    """Check journal and records in one snapshot, because a night may be writing."""
    engine = open_for_audit(url)
    try:
        with engine.connect() as connection:
            entries, broken = verify_chain(connection)
            differs = () if broken else _differing(connection)
    finally:
        engine.dispose()
    return Audit(entries=entries, broken=broken, differs=differs)


@cache
def _shape() -> tuple[str, ...]:
    """Write down how SQLite makes the tables; asking SQLAlchemy each time takes longer than a short rebuild."""
    dialect, tables = sqlite.dialect(), meta.sorted_tables
    parts: list[sa.schema.ExecutableDDLElement] = [sa.schema.CreateTable(table) for table in tables]
    parts += [sa.schema.CreateIndex(index) for table in tables for index in table.indexes]
    return tuple(str(one.compile(dialect=dialect)) for one in parts)


def _differing(connection: sa.Connection) -> tuple[str, ...]:
    """Rebuild into memory, so that nothing of the real tables is touched."""
    aside = sa.create_engine("sqlite://")
    with aside.begin() as copy:
        for statement in _shape():
            copy.exec_driver_sql(statement)
        query = sa.select(journal).order_by(journal.c.seq).execution_options(yield_per=BATCH)
        for row in connection.execute(query):
            project(copy, read_entry(row))
        rebuilt = fingerprint(copy)
    aside.dispose()
    now = fingerprint(connection)
    return tuple(name for name, hashed in now.items() if rebuilt[name] != hashed)
