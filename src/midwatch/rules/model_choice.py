"""Which of the models that a provider offers an agent uses where the person named none."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

NUMBER = re.compile(r"\d+")


class OfferedModel(NamedTuple):
    """One model in a provider's list."""

    name: str
    created: float
    """In Unix time; 0 if unknown."""


def current_model(offered: Iterable[OfferedModel], kinds: Sequence[str]) -> str:
    """Choose the newest model of the first kind that is offered; empty if none is. `kinds` are patterns of names."""
    known = list(offered)
    for kind in kinds:
        if fitting := [one for one in known if re.fullmatch(kind, one.name)]:
            return max(fitting, key=_age).name
    return ""


def _age(one: OfferedModel) -> tuple[float, list[int], str]:
    return one.created, [int(number) for number in NUMBER.findall(one.name)], one.name
