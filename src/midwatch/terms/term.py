"""The base of every term: frozen, and strict about its fields."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict


class Term(BaseModel):
    """A value that never changes and refuses undeclared fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def without_unset(written: dict[str, Any], names: Iterable[str], *, keep_zero: bool = False) -> dict[str, Any]:
    """Leave out fields that were not set: what was stored before they existed stays as it was written."""
    unset = {name for name in names if not written.get(name) and not (keep_zero and written.get(name) == 0)}
    return {name: value for name, value in written.items() if name not in unset}
