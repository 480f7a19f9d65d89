"""One position in the data that must not be shown, and what is written there instead."""

import re
from collections.abc import Iterable
from typing import NamedTuple

NEIGHBOURS = 4
"""Characters of an encoding that belong to two pieces of one value at once."""


KNOWN, KEY, PROVIDER, NAMED = range(4)
"""How certain a match is, most certain first: a known value, a key in its armour, a provider's mark, a telling name."""


class SecretSpan(NamedTuple):
    """Start, end and name of a secret; of two that overlap, the lower rank names both."""

    start: int
    end: int
    label: bytes
    rank: int
    joins: bool = False
    """One of several pieces of a value: the few bytes between two of them are removed too."""


def label(name: str) -> bytes:
    return b"[secret:" + re.sub(r"[^A-Za-z0-9_.-]+", "-", name).encode() + b"]"


def merged(data: bytes, spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Join spans that overlap, and pieces of the same value that nearly touch on one line."""
    joined: list[SecretSpan] = []
    for span in sorted(spans):
        last = joined[-1] if joined else None
        if last is None or (span.start >= last.end and not _touch(data, last, span)):
            joined.append(span)
        else:
            joined[-1] = min(last, span, key=lambda one: one.rank)._replace(
                start=last.start, end=max(last.end, span.end)
            )
    return joined


def _touch(data: bytes, one: SecretSpan, other: SecretSpan) -> bool:
    if not (one.joins and other.joins and one.label == other.label and other.start - one.end < NEIGHBOURS):
        return False
    # Lines leave a stream one by one: the result at their ends must not depend on timing.
    between = data[one.end : other.start]
    return b"\n" not in between and b"\r" not in between
