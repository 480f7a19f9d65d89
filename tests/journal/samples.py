"""Events of every kind: one that is always the same, and all those hypothesis can think of."""

import types
from datetime import UTC, datetime, time, timedelta
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

from midwatch.journal.events import Event

KINDS: dict[str, type[Event]] = {kind.model_fields["kind"].default: kind for kind in get_args(Event)}
THEN = datetime(2026, 3, 1, 2, 3, 4, 567890, tzinfo=UTC)
PLAIN: dict[Any, Any] = {
    int: 2,
    float: 0.5,
    bool: True,
    datetime: THEN,
    timedelta: timedelta(minutes=5),
    time: time(8),
    type(None): None,
    JsonValue: {"deep": [1, 2.5, "three", None, True]},
}
PLAIN_STRATEGIES: dict[Any, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    str: st.text(max_size=8),
    datetime: st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001  made aware
    time: st.times(),
    timedelta: st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=9)),
    type(None): st.none(),
    JsonValue: st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
        max_leaves=4,
    ),
}


def sample(kind: type[Event], **given: Any) -> Event:
    """Make the one sample of a kind, every field filled, with some of them as given."""
    return kind.model_validate(_filled(kind) | given)


def _filled(kind: type[BaseModel]) -> dict[str, Any]:
    return {name: _value(info.annotation, name) for name, info in kind.model_fields.items()}


def _value(annotation: Any, name: str) -> Any:
    if annotation is str:
        return name
    if annotation in PLAIN:
        return PLAIN[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _filled(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return list(annotation)[-1]
    return _compound(annotation, name)


def _compound(annotation: Any, name: str) -> Any:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return inner[-1]
    if origin is tuple:
        return (_value(inner[0], name),)
    if origin is dict:
        return {"key": _value(inner[1], name)}
    return _value(inner[0], name)


@cache
def events(kind: type[BaseModel]) -> st.SearchStrategy[Any]:
    """Every value of a kind."""
    return st.builds(kind, **{name: _strategy(info.annotation, info) for name, info in kind.model_fields.items()})


def _strategy(annotation: Any, info: FieldInfo | None = None) -> st.SearchStrategy[Any]:
    if annotation in {int, float}:
        return _number(annotation, info.metadata if info else [])
    if annotation in PLAIN_STRATEGIES:
        return PLAIN_STRATEGIES[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return events(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return st.sampled_from(annotation)
    return _compounds(annotation, info)


def _number(annotation: Any, bounds: list[Any]) -> st.SearchStrategy[Any]:
    least: list[Any] = [bound.ge for bound in bounds if isinstance(bound, Ge)]
    least += [1 for bound in bounds if isinstance(bound, Gt)]
    most: list[Any] = [bound.le for bound in bounds if isinstance(bound, Le)]
    limits: dict[str, Any] = {"min_value": least[0] if least else None, "max_value": most[0] if most else None}
    return st.integers(**limits) if annotation is int else st.floats(**limits, allow_nan=False, allow_infinity=False)


def _compounds(annotation: Any, info: FieldInfo | None = None) -> st.SearchStrategy[Any]:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin is tuple:
        return st.lists(_strategy(inner[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(st.text(max_size=4), _strategy(inner[1]), max_size=2)
    if origin in {Union, types.UnionType}:
        return st.one_of(*(_strategy(part, info) for part in inner))
    if origin is Annotated:
        return _strategy(inner[0])
    raise AssertionError(f"no strategy for {annotation}")
