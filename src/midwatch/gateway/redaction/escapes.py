r"""Reads data as a program would that undoes its escapes, and says where each part of what it read is in the data.

A value may be written with any of its letters escaped, in any mixture: `%70a%2573s`, `pa\u0073\x73`, also twice. There
are too many such forms to search for each, so the data is unescaped where it has escapes, and searched again.
"""

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

ROUNDS = 3
"""How often escapes may be nested: percent in percent, JSON in JSON, and one of them in the other."""
NEAR = 512
"""How far from an escape the rest of a value may be; twice that between two escapes of one value."""
_ANY = re.compile(rb"%[0-9A-Fa-f]{2}|\\[ux][0-9A-Fa-f{]")
_ESCAPE = re.compile(
    rb"%([0-9A-Fa-f]{2})"
    rb"|\\u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})"
    rb"|\\u(?:([0-9A-Fa-f]{4})|\{([0-9A-Fa-f]{1,6})\})"
    rb"|\\x([0-9A-Fa-f]{2})"
    rb'|\\(["\\/])'
)
_UNFINISHED = re.compile(rb"(?:%(?:25?){0,3}[0-9A-Fa-f]?|\\{1,8}(?:u\{?[0-9A-Fa-f]{0,5}|x[0-9A-Fa-f]?)?)\Z")


@dataclass(frozen=True, slots=True)
class Unescaped:
    """A part of the data without its escapes, and where it came from."""

    text: bytes
    begins: int
    """Where the part begins in the data."""
    ends: tuple[int, ...]
    """For each escape, where its letters end in the text."""
    sources: tuple[tuple[int, int, int], ...]
    """For each escape: how many bytes its letters are, and where it begins and ends in the part."""

    def start(self, at: int) -> int:
        """Return where in the data the letter is that is at this position of the text."""
        return self._source(at, bisect_right(self.ends, at), last=False)

    def end(self, at: int) -> int:
        """Return where in the data what ends at this position of the text ends."""
        return self._source(at, bisect_left(self.ends, at), last=True)

    def _source(self, at: int, number: int, *, last: bool) -> int:
        if number < len(self.ends):
            length, began, ended = self.sources[number]
            first = self.ends[number] - length
            if (at > first) if last else (at >= first):  # inside the letters of this escape: all of it counts
                return self.begins + (ended if last else began)
        if number == 0:
            return self.begins + at
        return self.begins + self.sources[number - 1][2] + at - self.ends[number - 1]


@dataclass(frozen=True, slots=True)
class DeepReading:
    """The same part after several rounds."""

    rounds: tuple[Unescaped, ...]

    @property
    def text(self) -> bytes:
        return self.rounds[-1].text

    def start(self, at: int) -> int:
        for one in reversed(self.rounds):
            at = one.start(at)
        return at

    def end(self, at: int) -> int:
        for one in reversed(self.rounds):
            at = one.end(at)
        return at


def readings(data: bytes, *, plus: bool) -> Iterator[DeepReading]:
    """Yield each part of the data that has escapes, after each round; with `plus` also with its `+` as blanks."""
    if not has_escapes(data):
        return
    for begin, end in _parts(data):
        part = data[begin:end]
        yield from _rounds(part, begin)
        if plus and b"+" in part:
            yield from _rounds(part.replace(b"+", b" "), begin)


def has_escapes(data: bytes) -> bool:
    """Whether there is anything to undo; cheap where there is not."""
    if b"%" not in data and b"\\u" not in data and b"\\x" not in data:
        return False
    return _ANY.search(data) is not None


def unfinished(data: bytes) -> int:
    """Return where an escape begins that the end of the data may cut; the data's length when there is none."""
    match = _UNFINISHED.search(data, max(0, len(data) - 20))
    return match.start() if match else len(data)


def _parts(data: bytes) -> Iterator[tuple[int, int]]:
    begin = end = -1
    for match in _ANY.finditer(data):
        if end >= 0 and match.start() - NEAR <= end:
            end = match.end() + NEAR
            continue
        if end >= 0:
            yield begin, min(end, len(data))
        begin, end = max(0, match.start() - NEAR), match.end() + NEAR
    yield begin, min(end, len(data))


def _rounds(part: bytes, begins: int) -> Iterator[DeepReading]:
    done: tuple[Unescaped, ...] = ()
    for _ in range(ROUNDS):
        one = _unescaped(done[-1].text if done else part, 0 if done else begins)
        if not one.ends:
            return
        done = (*done, one)
        yield DeepReading(done)


def _unescaped(part: bytes, begins: int) -> Unescaped:
    out: list[bytes] = []
    ends: list[int] = []
    sources: list[tuple[int, int, int]] = []
    at = length = 0
    for match in _ESCAPE.finditer(part):
        letters = _letters(match)
        out += [part[at : match.start()], letters]
        length += match.start() - at + len(letters)
        at = match.end()
        ends.append(length)
        sources.append((len(letters), match.start(), at))
    out.append(part[at:])
    return Unescaped(b"".join(out), begins, tuple(ends), tuple(sources))


def _letters(match: re.Match[bytes]) -> bytes:
    percent, high, low, unit, point, byte, itself = match.groups()
    if itself is not None:
        return itself
    if percent is not None or byte is not None:
        return bytes([int(percent or byte, 16)])
    if high is not None:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00).encode()
    code = int(unit or point, 16)
    return chr(code).encode(errors="surrogatepass") if code <= sys.maxunicode else match[0]
