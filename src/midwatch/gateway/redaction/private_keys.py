"""Finds private keys by their armour: the only pattern that spans many lines."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from midwatch.gateway.redaction.spans import KEY, SecretSpan, label

ARMOUR = rb"[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----"
MARK = b"-----BEGIN"
BEGIN = re.compile(rb"-----BEGIN" + ARMOUR)
END = re.compile(rb"-----END" + ARMOUR)
LINE = re.compile(rb"[^\r\n]*(?:\r?\n|\r|\Z)")
# A line of a key: a long run of its letters (after any log prefix), a header, a short last line, or nothing.
BODY = re.compile(
    rb"[A-Za-z0-9+/=]{16}|\A[^A-Za-z]*[A-Z][A-Za-z]{2,12}(?:-[A-Za-z]+)?: |\A[^A-Za-z+/]*[A-Za-z0-9+/=]{0,64}\s*\Z"
)
PROOF = re.compile(rb"[A-Za-z0-9+/]{32}")
NAME = label("private-key")


class KeyBlock(NamedTuple):
    """From its first mark to its last or to where it breaks off; open while more of it may come."""

    start: int
    end: int
    open: bool


def blocks(data: bytes) -> Iterator[KeyBlock]:
    """Yield every block that has begun, one after the other."""
    at = data.find(MARK)
    while at >= 0:
        block = _walk(data, begin) if (begin := BEGIN.match(data, at)) else None
        if block:
            yield block
        at = data.find(MARK, block.end if block else at + len(MARK))


def spans(data: bytes) -> Iterator[SecretSpan]:
    """Yield the blocks that hold a key; a mere mention of the marks is none."""
    for block in blocks(data):
        if PROOF.search(data, block.start, block.end):
            yield SecretSpan(block.start, block.end, NAME, rank=KEY)


def _walk(data: bytes, begin: re.Match[bytes]) -> KeyBlock:
    at = begin.end()
    first = True
    while at < len(data):
        line = LINE.match(data, at)
        stop = line.end() if line else len(data)
        other = data.find(MARK, at, stop)
        if end := END.search(data, at, stop if other < 0 else other):
            return KeyBlock(begin.start(), end.end(), open=False)
        if other >= 0 or not (first or BODY.search(data[at:stop])):
            return KeyBlock(begin.start(), _without_line_end(data, begin.end(), at), open=False)
        at, first = stop, False
    return KeyBlock(begin.start(), at, open=True)


def _without_line_end(data: bytes, start: int, end: int) -> int:
    while end > start and data[end - 1] in b"\r\n":
        end -= 1
    return end
