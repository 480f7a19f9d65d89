"""Walks: families of cases so long that `make test` runs a fixed, named part of them and `make sweep` the rest."""

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

import pytest
from _pytest.mark.structures import ParameterSet

T = TypeVar("T")


def walk(cases: Iterable[T], tested: Collection[str], *, name: Callable[[T], str] = str) -> list[ParameterSet]:
    """Give a walk's cases as parameters: those named in `tested` run in `make test`, all others in `make sweep`."""
    given = list(cases)
    unknown = set(tested) - {name(one) for one in given}
    assert not unknown, f"no such case: {sorted(unknown)}"
    return [
        pytest.param(one, id=name(one).replace(" ", "_"), marks=() if name(one) in tested else pytest.mark.sweep)
        for one in given
    ]
