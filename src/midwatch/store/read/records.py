"""Reading records: rows of a kind by what their columns say, in a stable order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar

import sqlalchemy as sa

from midwatch.errors import Unknown
from midwatch.ports.journal import Moment
from midwatch.store.reader import DatabaseReader
from midwatch.store.schema.tables import RECORDS, journal
from midwatch.terms.term import Term

R = TypeVar("R", bound=Term)
T = TypeVar("T")
MOST_DIGITS = 18
"""Longer numbers do not exist and would not fit the column."""
LISTED = {
    "projects": "midwatch project",
    "work_items": "midwatch work",
    "goals": "midwatch goal",
    "sessions": "midwatch status",
    "jobs": "midwatch job",
    "runs": "midwatch run",
    "asks": "midwatch asks --all",
    "settings_versions": "midwatch settings proposals",
    "pull_requests": "midwatch job",
    "stacks": "midwatch stack",
    "people": "midwatch person",
    "tokens": "midwatch token",
}
"""The command that lists a table's rows, for the hint when one does not exist."""
HEAD = sa.select(sa.func.max(journal.c.seq))
ORDER = ("number", "seq", "created_at", "started_at", "retrieved_at", "due_at", "since")
IN_TIME = frozenset({"sessions"})
"""Tables whose rows do not all have a number."""


class SqlRecords:
    """The tables, for reading only."""

    def __init__(self, reader: DatabaseReader) -> None:
        self._reader = reader

    async def find(self, kind: type[R], /, **where: object) -> tuple[R, ...]:
        return await self._reader.read(lambda connection: _found(connection, kind, where))

    async def get(self, kind: type[R], name: str) -> R:
        """Return one row by id, small number or name, in this order if more than one has it."""
        table, said = RECORDS[kind], str(name).removeprefix("#")
        number = (int(said) or None) if said.isdecimal() and len(said) <= MOST_DIGITS else None  # 0 is no number
        row = await self._reader.first(_getting(kind), said=said, number=number)
        if row is None:
            noun = "person" if table.name == "people" else table.name.replace("_", " ").removesuffix("s")
            raise Unknown(
                f"There is no {noun} {name!r}.", hint=f"List what there is: {LISTED.get(table.name, 'midwatch status')}"
            )
        return kind.model_validate(row._asdict())

    async def at_once(self, look: Callable[[Moment], T]) -> T:
        postgres = self._reader.engine.dialect.name == "postgresql"
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ" if postgres else "BEGIN"

        def looked(connection: sa.Connection) -> T:
            connection.exec_driver_sql(begin)
            try:
                return look(SqlMoment(connection, connection.execute(HEAD).scalar() or 0))
            finally:
                connection.exec_driver_sql("ROLLBACK")

        return await self._reader.read(looked)

    async def head(self) -> int:
        return await self._reader.read(lambda connection: connection.execute(HEAD).scalar()) or 0


@dataclass(frozen=True, slots=True)
class SqlMoment:
    """One transaction that only reads."""

    connection: sa.Connection
    head: int

    def find(self, kind: type[R], /, **where: object) -> tuple[R, ...]:
        return _found(self.connection, kind, where)


def _found(connection: sa.Connection, kind: type[R], where: Mapping[str, object]) -> tuple[R, ...]:
    given = {name: _plain(value) for name, value in where.items()}
    query = _finding(kind, *((name, None if value is None else type(value) is list) for name, value in given.items()))
    return tuple(kind.model_validate(row._asdict()) for row in connection.execute(query, given))


@lru_cache(maxsize=1000)
def _finding(kind: type[Term], *columns: tuple[str, bool | None]) -> sa.Select[Any]:
    """Build the query once, since making it costs more than sending it; a column is one, one of many, or empty."""
    table = RECORDS[kind]
    query = sa.select(*(table.c[field] for field in kind.model_fields))
    for name, many in columns:
        column = table.c[name]
        given = sa.bindparam(name, type_=column.type, expanding=bool(many))
        query = query.where(column.is_(None) if many is None else column.in_(given) if many else column == given)
    order = ORDER[1:] if table.name in IN_TIME else ORDER
    return query.order_by(*(table.c[name] for name in order if name in table.c), table.c.id)


@lru_cache
def _getting(kind: type[Term]) -> sa.Select[Any]:
    """Build the query once, as above; a number that was not given equals none."""
    table = RECORDS[kind]
    given = {"id": "said", "number": "number", "name": "said"}
    matches = [
        table.c[name] == sa.bindparam(value, type_=table.c[name].type)
        for name, value in given.items()
        if name in table.c
    ]
    nearest = sa.case(*((match, rank) for rank, match in enumerate(matches)))
    query = sa.select(*(table.c[field] for field in kind.model_fields)).where(sa.or_(*matches)).order_by(nearest)
    return query.where(table.c.removed.is_(False)) if "removed" in table.c else query


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.value if isinstance(value, Enum) else value
