"""Which branches of a night go together, and in which order: the largest set without a clash, the best first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

EXACT_UPTO: Final = 12
"""Up to so many branches every set is tried; above, the best are taken one by one."""


@dataclass(frozen=True, slots=True)
class Branch:
    """What the order depends on."""

    id: str
    priority: int = 3
    """Of the work behind it; 1 is the most pressing."""
    proved: bool = False
    """Whether its own checks were green."""
    size: int = 0
    """Lines added and removed."""
    opened: int = 0
    """Counts up: the older has the lower number."""
    after: frozenset[str] = frozenset()
    """Branches whose work it contains: without them it would bring in what was left out."""


@dataclass(frozen=True, slots=True)
class Clash:
    """Branches that do not go together, all of them: two that conflict, three that do only as three, one by itself."""

    members: frozenset[str]
    files: tuple[str, ...] = ()
    by_checks: bool = False
    """They merge without conflict, and the checks fail."""


def ranked(branches: Iterable[Branch]) -> tuple[Branch, ...]:
    """Order: the more pressing, then the proved, the smaller, the older first; a branch based on another after it."""
    left = sorted(branches, key=_preference)
    known = {one.id for one in left}
    placed: list[Branch] = []
    while left:
        names = {one.id for one in placed}
        # Git has no two branches based on each other; if the facts say so, the preference decides.
        chosen = next((one for one in left if one.after & known - {one.id} <= names), left[0])
        left.remove(chosen)
        placed.append(chosen)
    return tuple(placed)


def _preference(one: Branch) -> tuple[int, bool, int, int, str]:
    return one.priority, not one.proved, one.size, one.opened, one.id


def choose(branches: Sequence[Branch], clashes: Sequence[Clash]) -> tuple[str, ...]:
    """Choose the largest set in which nothing clashes, the better ranked at equal size, in merging order."""
    order = ranked(branches)
    if len(order) > EXACT_UPTO:
        return greedy(branches, clashes)
    masks = _Masks(order, clashes)
    best: tuple[int, ...] = ()
    for chosen in range(1 << len(order)):
        places = tuple(place for place in range(len(order)) if chosen >> place & 1)
        if (-len(places), places) < (-len(best), best) and masks.stands(chosen, places):
            best = places
    return tuple(order[place].id for place in best)


def greedy(branches: Sequence[Branch], clashes: Sequence[Clash]) -> tuple[str, ...]:
    """Take one branch after the other, the best ranked first, wherever nothing clashes."""
    taken: list[str] = []
    known = {one.id for one in branches}
    for one in ranked(branches):
        together = frozenset((*taken, one.id))
        if one.after & known <= together and not any(clash.members <= together for clash in clashes):
            taken.append(one.id)
    return tuple(taken)


class _Masks:
    """Sets of branches as bits, so that thousands of them are compared quickly."""

    def __init__(self, order: Sequence[Branch], clashes: Sequence[Clash]) -> None:
        bit = {one.id: 1 << place for place, one in enumerate(order)}
        self._clashes = [
            sum(bit[name] for name in clash.members) for clash in clashes if clash.members and clash.members <= set(bit)
        ]
        self._after = [sum(bit[name] for name in one.after if name in bit) for one in order]

    def stands(self, chosen: int, places: Iterable[int]) -> bool:
        """Whether nothing in the set clashes and nothing in it lacks what it is based on."""
        if any(clash & chosen == clash for clash in self._clashes):
            return False
        return all(self._after[place] & ~chosen == 0 for place in places)


def reason(branch: Branch, chosen: Iterable[str], clashes: Iterable[Clash]) -> Clash | None:
    """Which clash keeps a branch out of a chosen set: the smallest, a conflict rather than a red check."""
    there = frozenset(chosen)
    found = [clash for clash in clashes if branch.id in clash.members and clash.members - {branch.id} <= there]
    return min(found, key=lambda one: (len(one.members), one.by_checks, sorted(one.members)), default=None)
