"""Column types that mean the same on SQLite and PostgreSQL, chosen from a record's own annotations."""

import json
import types
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, Union, get_args, get_origin

import sqlalchemy as sa
from pydantic_core import to_jsonable_python
from sqlalchemy.engine import Dialect

from midwatch.journal.entry import canonical

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_micros(at: datetime) -> int:
    """Count the microseconds since 1970, exactly."""
    return (at - EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """Turn microseconds into an aware UTC time, exactly."""
    return EPOCH + timedelta(microseconds=micros)


class Micros(sa.types.TypeDecorator[datetime]):
    """An aware time, stored as UTC microseconds: one meaning and one order on both databases."""

    impl = sa.BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        return None if value is None else to_micros(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else from_micros(value)


class Json(sa.types.TypeDecorator[Any]):
    """Anything structured, as canonical JSON text: equal values are equal bytes, so tables can be compared by hash."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else canonical(to_jsonable_python(value))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """Read; the record's own model validates what comes out."""
        return None if value is None else json.loads(value)


def column_type(annotation: Any) -> tuple[sa.types.TypeEngine[Any], bool]:
    """Choose the column type for a field, and whether it may be empty."""
    if get_origin(annotation) in {Union, types.UnionType}:
        present = [part for part in get_args(annotation) if part is not type(None)]
        chosen, _ = column_type(present[0]) if len(present) == 1 else (Json(), False)
        return chosen, True
    if isinstance(annotation, type):
        if issubclass(annotation, bool):
            return sa.Boolean(), False
        if issubclass(annotation, Enum) and issubclass(annotation, str):
            return sa.Text(), False
        plain: dict[type, sa.types.TypeEngine[Any]] = {
            str: sa.Text(),
            int: sa.BigInteger(),
            float: sa.Float(),
            datetime: Micros(),
        }
        if annotation in plain:
            return plain[annotation], False
    return Json(), False
