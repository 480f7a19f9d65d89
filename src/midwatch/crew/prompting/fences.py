"""Blocks that the text inside cannot close, and cuts that say that they were made."""

from collections.abc import Sequence
from hashlib import sha256
from itertools import count

from midwatch.views.text.plain import clean, harmless


def fenced(text: str, what: str) -> str:
    """Put a text between two marks that do not occur in it; the same text always gets the same marks."""
    mark = mark_for(text)
    return f"----- begin {mark}: {clean(what, 80)} -----\n{text}\n----- end {mark} -----"


def mark_for(text: str, length: int = 12) -> str:
    """Find a mark that the text does not hold in any case of letters."""
    folded = text.casefold()
    marks = (sha256(f"{number}:{text}".encode("utf-8", "replace")).hexdigest()[:length] for number in count())
    return next(mark for mark in marks if mark not in folded)


def cut(text: str, most: int, *, keep_end: bool = False) -> str:
    """Make a text harmless and at most about this long; a cut is named where it was made."""
    if len(text) <= most:
        return harmless(text).strip("\n")
    gone = f"[{len(text) - most:,} characters were cut here]"
    # What fails says so at its end, so the end is worth more.
    head = most // 4 if keep_end else most
    start, end = harmless(text[:head]).strip("\n"), harmless(text[len(text) - (most - head) :]).strip("\n")
    return f"{start}\n{gone}\n{end}" if keep_end else f"{start}\n{gone}"


def lines(items: Sequence[str], most: int, longest: int) -> tuple[str, ...]:
    """Give each item on one line; what was left out is counted in the last one."""
    kept = tuple(line for item in items[:most] if (line := clean(item[: longest * 4], longest)))
    left = len(items) - most
    return kept if left <= 0 else (*kept, f"({left:,} more were left out here)")
