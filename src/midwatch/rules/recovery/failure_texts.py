"""Reads what a failed program printed: the last line that says why decides, noise before it does not."""

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from midwatch.rules.recovery.failure_marks import MARKS, NOISE, Cause, Force

LONGEST_TEXT: Final = 64_000
MOST_LINES: Final = 400
LONGEST_LINE: Final = 4_000
_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NOISE: Final = re.compile("|".join(NOISE))
_MARKS: Final = tuple((mark, re.compile(mark.pattern, re.IGNORECASE)) for mark in MARKS)

_WRONG: Final = re.compile(
    r"error\b|fatal|panic|exception|denied|refused|not found|no such|cannot|could not|missing|failed", re.IGNORECASE
)
_RUNTIME: Final = re.compile(r"Node\.js v[\d.]+|\[?\d*\]?\s*Aborted.*|\{.*")
"""What programs print after they have said why: a runtime's version, or a line of their protocol."""

EXIT_CODES: Final = {
    75: Cause.TRANSIENT,  # EX_TEMPFAIL
    77: Cause.AUTH,  # EX_NOPERM
    124: Cause.TRANSIENT,  # timeout(1), and our own process limit
    126: Cause.AUTH,  # found, and may not be run
    127: Cause.DEPENDENCY,  # not found
    134: Cause.LOGIC,  # aborted
    137: Cause.MEMORY,  # killed, most often for memory
    139: Cause.LOGIC,  # segmentation fault
    143: Cause.TRANSIENT,  # stopped from outside
}
"""What an exit code means where no line says why."""


class _Rank(IntEnum):
    NOTHING = 0
    HINT = 1
    WHY = 2


@dataclass(frozen=True, slots=True)
class _Found:
    rank: _Rank
    cause: Cause
    yields_to: tuple[Cause, ...] = ()


def classify(text: str, exit_code: int | None = None) -> Cause:
    """The output decides before the exit code; if neither says why, the cause is unknown."""
    found = [_read(line) for line in _lines(text)]
    result = [one for one in found if one is not None]
    said = _last(result, _Rank.WHY) or _last(result, _Rank.HINT)
    by_code = EXIT_CODES.get(exit_code, Cause.UNKNOWN) if exit_code is not None else Cause.UNKNOWN
    if said is None:
        return by_code
    if said.rank is _Rank.HINT and by_code is not Cause.UNKNOWN:
        return by_code
    # Some last lines only follow from earlier ones: an index that could not be reached holds no package.
    earlier = [one.cause for one in result if one.cause in said.yields_to]
    return earlier[-1] if earlier else said.cause


def telling_line(*streams: str) -> str:
    """Pick a dead program's last words: the last line that says what is wrong, in whichever stream has one."""
    spoken = [[line.rstrip() for line in _lines(text) if not _RUNTIME.fullmatch(line.strip())] for text in streams]
    for lines in spoken:
        if wrong := [line for line in lines if not line[:1].isspace() and _WRONG.search(line)]:
            return wrong[-1]
    rest = [lines[-1].strip() for lines in spoken if lines]
    return rest[0] if rest else ""


def _lines(text: str) -> list[str]:
    kept = _COLOURS.sub("", text[-LONGEST_TEXT:]).replace("\r", "\n").split("\n")[-MOST_LINES:]
    return [line[:LONGEST_LINE] for line in kept if line.strip() and not _NOISE.search(line[:LONGEST_LINE])]


def _read(line: str) -> _Found | None:
    """The first mark of the table that matches a line decides what the line means."""
    best: _Found | None = None
    for mark, pattern in _MARKS:
        if pattern.search(line):
            rank = _Rank.WHY if mark.force is Force.WHY else _Rank.HINT
            if rank is _Rank.WHY:
                return _Found(rank, mark.cause, mark.yields_to)
            best = best or _Found(rank, mark.cause, mark.yields_to)
    return best


def _last(found: list[_Found], rank: _Rank) -> _Found | None:
    return next((one for one in reversed(found) if one.rank is rank), None)
