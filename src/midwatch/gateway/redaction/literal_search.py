"""Finds any of many literals in one pass, by one rare byte of each and the three beside it.

Python's `re` tries the branches of an alternation one after the other where the first byte matches. So each literal is
searched by a byte that is rare in logs, and as many literals as possible by the same few bytes: hardly any position
matches, and most of those fail at once.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

Owner = TypeVar("Owner")

WIDTH = 4
# The bytes of agents' logs, most common first; a byte not named here is rarer still.
COMMON = b" etaoinsrldcup0m./12\"_h:\nf=-g3y4b5,68w79v'k(){}x[]ETSAIN\\RCLODqjzPMUFBWGHK"
COST = [1 / (COMMON.index(byte) + 3) if byte in COMMON else 0.005 for byte in range(256)]


class SearchWindow(NamedTuple):
    """Where to look around a rare byte (so far before it, so many bytes), and what must follow that byte."""

    shift: int
    width: int
    then: bytes


class LiteralPlace(NamedTuple, Generic[Owner]):
    """Which literal a window belongs to, and its position in it."""

    start: int
    literal: bytes
    owner: Owner


class LiteralSearch(Generic[Owner]):
    """Literals, each with an owner, and the one expression that finds where they may be."""

    def __init__(self, literals: Iterable[tuple[bytes, Owner]], then: Callable[[Owner], bytes] = lambda _: b"") -> None:
        owned = list(literals)
        chosen = _few_and_rare({literal for literal, _ in owned})
        self._places: dict[bytes, dict[SearchWindow, dict[bytes, list[LiteralPlace[Owner]]]]] = {}
        for literal, owner in owned:
            rare = next(byte for byte in chosen if byte in literal)
            at = literal.index(rare)
            start = max(0, min(at, len(literal) - WIDTH))
            seen = literal[start : start + WIDTH]
            windows = self._places.setdefault(rare, {}).setdefault(SearchWindow(at - start, len(seen), then(owner)), {})
            windows.setdefault(seen, []).append(LiteralPlace(start, literal, owner))
        branches = [_branch(rare, windows) for rare, windows in self._places.items()]
        self._expression = re.compile(b"|".join(branches), re.DOTALL) if owned else None

    def found(self, data: bytes) -> Iterator[tuple[int, Owner]]:
        """Yield the position and owner of every literal in the data, overlapping ones too."""
        if self._expression is None:
            return
        for match in self._expression.finditer(data):
            rare = match.start()
            for (shift, width, _), seen in self._places[match[0]].items():
                at = rare - shift
                for start, literal, owner in seen.get(data[at : at + width], ()):
                    if at >= start and data.startswith(literal, at - start):
                        yield at - start, owner


def _few_and_rare(literals: set[bytes]) -> list[bytes]:
    """Choose bytes such that every literal has one of them: always the cheapest for what it adds."""
    left, chosen = literals, []
    while left:
        bytes_left = {byte for literal in left for byte in literal}
        best = min(bytes_left, key=lambda byte: (COST[byte] / sum(byte in literal for literal in left), byte))
        chosen.append(bytes([best]))
        left = {literal for literal in left if best not in literal}
    return chosen


def _branch(rare: bytes, windows: Mapping[SearchWindow, Iterable[bytes]]) -> bytes:
    """Consume the rare byte alone and look around, so that no anchor hides one that overlaps it."""
    around = [_around(set(seen), window) for window, seen in windows.items()]
    return re.escape(rare) + b"(?:" + b"|".join(around) + b")"


def _around(seen: set[bytes], window: SearchWindow) -> bytes:
    """Look behind for any of the beginnings and ahead for any of the ends: chance matches are rejected later."""
    middle = window.shift + 1
    behind = _any({one[:middle] for one in seen}) if window.shift else b""
    looks = (b"(?<=", behind), (b"(?=", _any({one[middle:] for one in seen})), (b"(?=", window.then)
    return b"".join(sort + what + b")" for sort, what in looks if what)


def _any(several: set[bytes]) -> bytes:
    """Branch at each byte once: `re` skips a branch quickly only if it begins with a plain byte."""
    if several <= {b""}:
        return b""
    firsts = sorted({one[:1] for one in several})
    branches = [re.escape(first) + _any({one[1:] for one in several if one[:1] == first}) for first in firsts]
    return branches[0] if len(branches) == 1 else b"(?:" + b"|".join(branches) + b")"
