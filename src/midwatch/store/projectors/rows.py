"""The few ways in which a projector may touch a row. A change that meets no row in the right state is Stale."""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_origin

import sqlalchemy as sa

from midwatch.errors import Stale, Unknown
from midwatch.journal.entry import Entry
from midwatch.journal.events.happening import Happening
from midwatch.store.schema.tables import RECORDS, timers
from midwatch.terms.term import Term

E = TypeVar("E", bound=Happening)
Projector = Callable[[sa.Connection, Entry, Any], None]
PROJECTORS: dict[type[Happening], Projector] = {}
EMPTY: dict[object, object] = {str: "", int: 0, bool: False, tuple: ()}
NOTHING = {
    table.name: {
        name: EMPTY[kind]
        for name, field in record.model_fields.items()
        if (kind := get_origin(field.annotation) or field.annotation) in EMPTY and name not in {"id", "number"}
    }
    for record, table in RECORDS.items()
    if len(record.model_fields) == len(table.c)
}
"""What each column of a new row holds until something is known."""


def on(
    kind: type[E],
) -> Callable[[Callable[[sa.Connection, Entry, E], None]], Callable[[sa.Connection, Entry, E], None]]:
    """Register the projector of one kind of event."""

    def register(projector: Callable[[sa.Connection, Entry, E], None]) -> Callable[[sa.Connection, Entry, E], None]:
        PROJECTORS[kind] = projector
        return projector

    return register


def only_written(_: sa.Connection, __: Entry, ___: Happening) -> None:
    """No row: the entry is enough."""


def insert(connection: sa.Connection, table: sa.Table, **values: object) -> None:
    """Add a row; one that exists already is Stale."""
    try:
        connection.execute(_inserting(table), _plain(values))
    except sa.exc.IntegrityError as there:
        hint = "Look at the current state and try again."
        raise Stale(f"{table.name}: {values.get('id')} already exists.", hint=hint) from there


def begin(connection: sa.Connection, entry: Entry, table: sa.Table, name: str, *given: Term, **values: object) -> None:
    """Add the row of something that begins with this entry.

    It takes the fields it shares with what is given, and a number where its table counts; the rest is empty.
    """
    number = {"number": next_number(connection, table)} if "number" in table.c and "number" not in values else {}
    begun = {"created_at": entry.at} if "created_at" in table.c else {}
    shared: dict[str, object] = {}
    for one in given:
        own = {"id", "number"} | ({"kind"} if isinstance(one, Happening) else set())
        shared |= {
            field: getattr(one, field) for field in type(one).model_fields if field in table.c and field not in own
        }
    insert(connection, table, id=name, **NOTHING[table.name] | number | begun | shared | values)


def change(connection: sa.Connection, table: sa.Table, where: Mapping[str, object], **values: object) -> None:
    """Change exactly the rows that are in the expected state; if there are none, it is Stale."""
    if not _update(connection, table, where, values).rowcount:
        raise Stale(
            f"{table.name}: nothing is {_said(where)} any more.", hint="Look at the current state and try again."
        )


def adjust(connection: sa.Connection, table: sa.Table, where: Mapping[str, object], **values: object) -> None:
    _update(connection, table, where, values)


def row(connection: sa.Connection, table: sa.Table, name: str) -> sa.RowMapping:
    found = connection.execute(_selecting(table), {"name": name}).mappings().first()
    if found is None:
        raise Unknown(f"There is no {table.name.rstrip('s')} {name}.", hint="Check the name.")
    return found


def next_number(connection: sa.Connection, table: sa.Table) -> int:
    """Count up for people; safe because every writer holds the append lock."""
    return int(connection.execute(_counting(table)).scalar_one())


def set_timer(connection: sa.Connection, name: str, kind: str, subject: str, due_at: datetime) -> None:
    """Set or move a wait."""
    clear_timer(connection, name)
    insert(connection, timers, id=name, kind=kind, subject=subject, due_at=due_at)


def clear_timer(connection: sa.Connection, name: str) -> None:
    connection.execute(_clear, {"name": name})


# A statement is built once for each shape: building it costs more than executing it, and a rebuild is nothing else.
_clear = timers.delete().where(timers.c.id == sa.bindparam("name"))


@cache
def _inserting(table: sa.Table) -> sa.Insert:
    return table.insert()


@cache
def _selecting(table: sa.Table) -> sa.Select[Any]:
    return sa.select(table).where(table.c.id == sa.bindparam("name"))


@cache
def _counting(table: sa.Table) -> sa.Select[Any]:
    return sa.select(sa.func.coalesce(sa.func.max(table.c.number), 0) + 1)


@cache
def _updating(table: sa.Table, where: tuple[tuple[str, type], ...], values: tuple[str, ...]) -> sa.Update:
    """Compare a column with one value, with several, or with none; each is given by the name `was_` and the column."""
    statement = table.update().values({name: sa.bindparam(f"new_{name}", type_=table.c[name].type) for name in values})
    for name, kind in where:
        column = table.c[name]
        given = sa.bindparam(f"was_{name}", type_=column.type, expanding=kind is list)
        alike = column.is_(None) if kind is NoneType else column.in_(given) if kind is list else column == given
        statement = statement.where(alike)
    return statement


def _update(
    connection: sa.Connection, table: sa.Table, where: Mapping[str, object], values: Mapping[str, object]
) -> sa.CursorResult[Any]:
    was = {
        name: [str(one) for one in value] if isinstance(value, tuple) else _stored(value)
        for name, value in where.items()
    }
    shape = tuple(
        (name, list if isinstance(one, list) else NoneType if one is None else str) for name, one in was.items()
    )
    given = {f"was_{name}": one for name, one in was.items() if one is not None}
    given |= {f"new_{name}": _stored(value) for name, value in values.items()}
    return connection.execute(_updating(table, shape, tuple(values)), given)


def _plain(values: Mapping[str, object]) -> dict[str, object]:
    return {name: _stored(value) for name, value in values.items()}


def _stored(value: object) -> object:
    # psycopg would write an enum's name, and PostgreSQL takes no NUL; both databases must hold the same.
    value = value.value if isinstance(value, Enum) else value
    return value.replace("\x00", "\ufffd") if isinstance(value, str) else value


def _said(where: Mapping[str, object]) -> str:
    return ", ".join(
        f"{name} {' or '.join(map(str, value)) if isinstance(value, tuple) else value}" for name, value in where.items()
    )


def box_timer_of(job: str) -> str:
    return f"box:{job}"


def rested(c: sa.Connection, now: sa.RowMapping, at: datetime) -> dict[str, object]:
    """Pause the time box: what it used so far is counted, and its timer is cleared."""
    clear_timer(c, box_timer_of(now["id"]))
    began = now["box_began_at"]
    used = max(0, int((at - began).total_seconds())) if began is not None else 0
    return {"box_began_at": None, "box_seconds": now["box_seconds"] + used}


def failures_with(now: sa.RowMapping, at: datetime, **failure: object) -> list[Any]:
    """Add one failure to a job's."""
    return [*now["failures"], {**failure, "at": at}]
