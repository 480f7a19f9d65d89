"""Reading records: rows of a kind by what their columns say, in a stable order."""

from enum import Enum
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from midwatch.errors import Unknown
from midwatch.store.schema.tables import RECORDS, journal
from midwatch.terms.term import Term

R = TypeVar("R", bound=Term)
MOST_DIGITS = 18
"""A longer number is no number of ours and would not fit the column."""
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
"""Which verb lists a table's rows, for whoever asked for one that is not there."""
ORDER = ("number", "seq", "created_at", "started_at", "retrieved_at", "due_at", "since")


class SqlRecords:
    """The tables, for reading only."""

    def __init__(self, reader: AsyncEngine) -> None:
        self._reader = reader

    async def find(self, kind: type[R], /, **where: object) -> tuple[R, ...]:
        """Rows of a kind whose columns equal the given values (a tuple means any of them), oldest first."""
        table = RECORDS[kind]
        query = sa.select(*(table.c[field] for field in kind.model_fields))
        for name, value in where.items():
            column = table.c[name]
            if isinstance(value, tuple):
                query = query.where(column.in_([_plain(one) for one in value]))
            else:
                query = query.where(column == _plain(value))
        order = [table.c[name] for name in ORDER if name in table.c]
        async with self._reader.connect() as connection:
            rows = (await connection.execute(query.order_by(*order, table.c.id))).mappings().all()
        return tuple(kind.model_validate(dict(row)) for row in rows)

    async def get(self, kind: type[R], name: str) -> R:
        """Return one row by id, small number or name, in this order if more than one has it."""
        table = RECORDS[kind]
        said = str(name).removeprefix("#")
        matches = [table.c.id == said]
        if "number" in table.c and said.isdecimal() and len(said) <= MOST_DIGITS:
            matches.append(table.c.number == int(said))
        if "name" in table.c:
            matches.append(table.c.name == said)
        nearest = sa.case(*((match, rank) for rank, match in enumerate(matches)))
        query = sa.select(*(table.c[field] for field in kind.model_fields)).where(sa.or_(*matches)).order_by(nearest)
        if "removed" in table.c:
            query = query.where(table.c.removed.is_(False))
        async with self._reader.connect() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            noun = "person" if table.name == "people" else table.name.replace("_", " ").removesuffix("s")
            raise Unknown(
                f"There is no {noun} {name!r}.", hint=f"List what there is: {LISTED.get(table.name, 'midwatch status')}"
            )
        return kind.model_validate(dict(row))

    async def head(self) -> int:
        """Return the newest seq."""
        async with self._reader.connect() as connection:
            return (await connection.execute(sa.select(sa.func.max(journal.c.seq)))).scalar() or 0


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else value
