"""Finds the known values, in every encoding, even where a line was wrapped in the middle of one.

Blanks are removed from a copy of the data, and that copy is searched: one pass shows which values occur at all. Only
for those the position in the data itself is searched.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from midwatch.errors import Misuse
from midwatch.gateway.redaction import escapes
from midwatch.gateway.redaction.encodings import SHORTEST, pieces, variants
from midwatch.gateway.redaction.literal_search import LiteralSearch
from midwatch.gateway.redaction.spans import KNOWN, SecretSpan, label

BLANKS = b" \t\r\n\v\f\0"
"""Zero bytes are blanks as well: so plain letters in UTF-16 need no variants."""
HEAD = 4
"""So many bytes must be adjacent: with one, every line might end in the beginning of a secret."""
DROP = 3
LONG_ENOUGH = 12
BLANK = re.compile(rb"[ \t\r\n\v\f\0]|\\[nrt]")
GAP = b"(?:" + BLANK.pattern + b"){0,24}+"
LONGEST_GAP = 48
FARTHEST = 32 * 1024
"""How far back a value may have begun, even if wrapped."""


class KnownValues:
    """The values to search for. Its representation shows nothing of them."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._owner: dict[bytes, str] = {}
        self._heads: dict[bytes, int] = {}
        self._expressions: dict[bytes, re.Pattern[bytes]] = {}
        self._in_pieces = {name for name, value in values.items() if len(pieces(value)) > 1}
        for name, value in values.items():
            for needle, head in _needles(name, value):
                self._owner[needle] = name
                for part in {needle, _rest(needle)}:
                    self._heads[part] = min(head, self._heads.get(part, HEAD))
        # A wrap near the beginning of a value hides it; then the rest of it is found on the next line.
        self._present = LiteralSearch((_inner(_rest(needle)), needle) for needle in self._owner)
        self._starts: dict[bytes, set[bytes]] = {}
        for part, head in self._heads.items():
            self._starts.setdefault(part[:head], set()).add(part)
        self._begun = LiteralSearch((start, start) for start in self._starts)
        self._longest = max(map(len, self._owner), default=0)
        self._blanks = any(" " in value.strip() for value in values.values())
        self._reach = min(self._longest * (1 + LONGEST_GAP), FARTHEST)
        self.names = frozenset(values)

    def __repr__(self) -> str:
        return f"<{len(self.names)} known values>"

    def spans(self, data: bytes) -> Iterator[SecretSpan]:
        yield from self._as_written(data)
        if not self._owner:
            return
        for reading in escapes.readings(data, plus=self._blanks):
            for span in self._as_written(reading.text):
                yield span._replace(start=reading.start(span.start), end=reading.end(span.end))

    def _as_written(self, data: bytes) -> Iterator[SecretSpan]:
        for needle, count in Counter(needle for _, needle in self._present.found(_squeezed(data))).items():
            name = self._owner[needle]
            for start, end in _in_one_piece(data, needle, count) or self._wrapped(data, needle):
                yield SecretSpan(start, end, label(name), rank=KNOWN, joins=name in self._in_pieces)

    def begun(self, data: bytes) -> int:
        """Return where a value begins that the end of the data may cut; the data's length when there is none."""
        tail = data[-self._reach :] if self._reach else b""
        if not tail:
            return len(data)
        first = self._begun_in(tail)
        # An escape that the end cuts hides that the letters before it begin a value.
        whole = tail[: escapes.unfinished(tail)]
        if len(whole) < len(tail):
            first = min(first, _unless_all(self._begun_in(whole), whole, tail))
        for reading in escapes.readings(whole, plus=self._blanks):
            begun = self._begun_in(reading.text)
            if begun < len(reading.text) and reading.end(len(reading.text)) == len(whole):
                first = min(first, reading.start(begun))
        return len(data) - len(tail) + first

    def _begun_in(self, tail: bytes) -> int:
        squeezed = _squeezed(tail)
        first = len(squeezed)  # the first match need not begin first
        for at, start in self._begun.found(squeezed):
            if at >= first or len(squeezed) - at >= self._longest:
                continue
            rest = squeezed[at:]
            if any(needle.startswith(rest) and needle != rest for needle in self._starts[start]):
                first = at
        return len(tail) - _raw_length(tail, len(squeezed) - first)

    def _wrapped(self, data: bytes, needle: bytes) -> list[tuple[int, int]]:
        if needle not in self._expressions:
            parts = dict.fromkeys((needle, _rest(needle)))
            expression = b"|".join(_expression(part, self._heads[part]) for part in parts)
            self._expressions[needle] = re.compile(expression)
        return [match.span() for match in self._expressions[needle].finditer(data)]


def long_enough(value: str) -> bool:
    """Return whether a value can be searched for: shorter ones occur in normal text by chance."""
    return len(_squeezed(value.encode(errors="surrogatepass"))) >= SHORTEST


def _needles(name: str, value: str) -> Iterator[tuple[bytes, int]]:
    """Yield what to search for, without blanks, and how many bytes of it must be adjacent."""
    if not long_enough(value):
        raise Misuse(
            f"The secret {name} is too short to be kept out of logs.",
            hint=f"Use one of at least {SHORTEST} characters without blanks.",
        )
    for piece in pieces(value):
        for variant in variants(piece):
            needle = _squeezed(variant)
            if len(needle) >= SHORTEST:
                # With blanks of its own near the beginning, a value could never have four adjacent bytes.
                early = BLANK.search(variant, 0, HEAD + DROP + LONGEST_GAP)
                yield needle, 1 if early else HEAD


def _unless_all(begun: int, whole: bytes, tail: bytes) -> int:
    return begun if begun < len(whole) else len(tail)


def _rest(needle: bytes) -> bytes:
    return needle[DROP:] if len(needle) >= LONG_ENOUGH else needle


def _squeezed(data: bytes) -> bytes:
    """Remove blanks, and the line ends that JSON writes as two characters."""
    if b"\\" in data:
        data = data.replace(b"\\n", b"").replace(b"\\r", b"").replace(b"\\t", b"")
    return data.translate(None, BLANKS)


def _inner(needle: bytes) -> bytes:
    """Skip what a backslash before, or a letter after, would make part of an escaped line end."""
    start = 1 if needle[:1] in {b"n", b"r", b"t"} else 0
    return needle[start : -1 if needle.endswith(b"\\") else None]


def _in_one_piece(data: bytes, needle: bytes, count: int) -> list[tuple[int, int]]:
    """Find the needle where nothing was wrapped; nothing unless those are all its occurrences."""
    rest, spans, at = _rest(needle), [], 0
    drop = len(needle) - len(rest)
    while (at := data.find(rest, at)) >= 0:
        whole = at >= drop and data.startswith(needle, at - drop)
        spans.append((at - drop if whole else at, at + len(rest)))
        at += 1
    return spans if len(spans) == count else []


def _expression(needle: bytes, head: int) -> bytes:
    letters = [re.escape(needle[at : at + 1]) for at in range(len(needle))]
    return b"\\0?+".join(letters[:head]) + b"".join(GAP + letter for letter in letters[head:])


def _raw_length(tail: bytes, count: int) -> int:
    """Return the length of the tail's end that holds so many bytes other than blanks."""
    at = len(tail)
    while count and at:
        at -= 1
        if tail[at] in b"nrt" and tail[at - 1 : at] == b"\\":
            at -= 1
        elif tail[at] not in BLANKS:
            count -= 1
    return len(tail) - at
