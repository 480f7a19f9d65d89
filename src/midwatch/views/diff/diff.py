"""A unified git diff as values: files, hunks, lines with their numbers; content never taken for structure."""

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

from midwatch.terms.term import Term

HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: (.*))?\Z", re.DOTALL)
NOTHING = "/dev/null"


class DiffFileKind(StrEnum):
    """What happened to a file."""

    CHANGED = "changed"
    NEW = "new"
    DELETED = "deleted"
    RENAMED = "renamed"
    COPIED = "copied"
    MODE = "mode"


class LineKind(StrEnum):
    """What happened to a line."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


class DiffLine(Term):
    """One line with its number in the old and in the new file; None where that file does not have it."""

    kind: LineKind
    text: str
    old: int | None = None
    new: int | None = None
    ends: bool = True
    """False where the file stops without a line break."""


class Hunk(Term):
    """A stretch of lines."""

    old: int
    new: int
    section: str = ""
    lines: tuple[DiffLine, ...] = ()


class DiffFile(Term):
    """One file of a diff."""

    path: str
    old_path: str
    kind: DiffFileKind = DiffFileKind.CHANGED
    binary: bool = False
    old_mode: str = ""
    new_mode: str = ""
    hunks: tuple[Hunk, ...] = ()

    @property
    def added(self) -> int:
        return sum(line.kind is LineKind.ADDED for hunk in self.hunks for line in hunk.lines)

    @property
    def removed(self) -> int:
        return sum(line.kind is LineKind.REMOVED for hunk in self.hunks for line in hunk.lines)

    @property
    def lines(self) -> int:
        return sum(len(hunk.lines) for hunk in self.hunks)


class Diff(Term):
    """A whole diff; `unread` counts lines that are not part of a diff, so that nothing is dropped silently."""

    files: tuple[DiffFile, ...] = ()
    unread: int = 0


def parse(text: str) -> Diff:
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    # Inside a hunk every line has a mark before it, so no content can begin like this.
    starts = [at for at, line in enumerate(lines) if line.startswith("diff --git ")]
    files = [_file(lines[start:end]) for start, end in pairwise([*starts, len(lines)])]
    before = starts[0] if starts else len(lines)
    return Diff(files=tuple(file for file, _ in files), unread=before + sum(unread for _, unread in files))


def _lengths(found: re.Match[str]) -> tuple[int, int]:
    return int(found[2] or 1) if found[2] != "0" else 0, int(found[4] or 1) if found[4] != "0" else 0


def _past(lines: Sequence[str], at: int, found: re.Match[str]) -> int:
    """Return the index after the last line that a hunk's header counts."""
    old, new = _lengths(found)
    while at < len(lines) and (old > 0 or new > 0 or lines[at].startswith("\\")):
        mark = lines[at][:1]
        if mark not in {"", " ", "+", "-", "\\"}:
            return at
        old -= mark in {"", " ", "-"}
        new -= mark in {"", " ", "+"}
        at += 1
    return at


def _file(lines: Sequence[str]) -> tuple[DiffFile, int]:
    """Read one file: its header up to the first hunk, then the hunks."""
    first = next((at for at, line in enumerate(lines) if HUNK.match(line)), len(lines))
    head = _head(lines[:first])
    hunks: list[Hunk] = []
    at, unread = first, 0
    while at < len(lines):
        found = HUNK.match(lines[at])
        if not found:
            at, unread = at + 1, unread + 1
            continue
        end = _past(lines, at + 1, found)
        hunks.append(_hunk(found, lines[at + 1 : end]))
        at = end
    return head.model_copy(update={"hunks": tuple(hunks)}), unread


_KINDS = {
    "new file mode ": DiffFileKind.NEW,
    "deleted file mode ": DiffFileKind.DELETED,
    "rename from ": DiffFileKind.RENAMED,
    "copy from ": DiffFileKind.COPIED,
}


def _head(lines: Sequence[str]) -> DiffFile:
    old, new = header_paths(lines[0].removeprefix("diff --git "))
    said: dict[str, str] = {}
    for line in lines[1:]:
        for word in (*_KINDS, "old mode ", "new mode ", "rename to ", "copy to ", "--- ", "+++ "):
            if line.startswith(word):
                said.setdefault(word, line.removeprefix(word))
    binary = any(line.startswith(("Binary files ", "GIT binary patch")) for line in lines[1:])
    kind = next((kind for word, kind in _KINDS.items() if word in said), None)
    if kind is None:
        text_changed = binary or "+++ " in said
        kind = DiffFileKind.MODE if "new mode " in said and not text_changed else DiffFileKind.CHANGED
    return DiffFile(
        path=_named(said, ("rename to ", "copy to ", "+++ ")) or new,
        old_path=_named(said, ("rename from ", "copy from ", "--- ")) or old,
        kind=kind,
        binary=binary,
        old_mode=said.get("old mode ") or said.get("deleted file mode ") or "",
        new_mode=said.get("new mode ") or said.get("new file mode ") or "",
    )


def _named(said: dict[str, str], words: Sequence[str]) -> str:
    for word in words:
        if word in said:
            name = path_of(said[word], prefixed=word in {"--- ", "+++ "})
            return "" if name == NOTHING else name
    return ""


def _hunk(found: re.Match[str], lines: Sequence[str]) -> Hunk:
    old, new = int(found[1]), int(found[3])
    read: list[DiffLine] = []
    for line in lines:
        mark, text = line[:1], line[1:]
        if mark == "\\":
            if read:
                read[-1] = read[-1].model_copy(update={"ends": False})
            continue
        kind = {"+": LineKind.ADDED, "-": LineKind.REMOVED}.get(mark, LineKind.SAME)
        here = None if kind is LineKind.ADDED else old
        there = None if kind is LineKind.REMOVED else new
        read.append(DiffLine.model_construct(kind=kind, text=text, old=here, new=there, ends=True))
        old += here is not None
        new += there is not None
    return Hunk.model_construct(old=int(found[1]), new=int(found[3]), section=found[5] or "", lines=tuple(read))


_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def path_of(text: str, *, prefixed: bool) -> str:
    """Read one name from a `---`, `+++` or `rename to` line."""
    bare = unquoted(text) if text.startswith('"') else text.removesuffix("\t")
    return bare[2:] if prefixed and bare[1:2] == "/" and bare != "/dev/null" else bare


def header_paths(text: str) -> tuple[str, str]:
    """Read both names of a `diff --git` line; without quotes and with spaces only equal names can be separated."""
    quoted = _QUOTED.match(text)
    if quoted:
        return path_of(quoted[0], prefixed=True), path_of(text[quoted.end() + 1 :], prefixed=True)
    if text.endswith('"') and ' "' in text:
        old, new = text.split(' "', 1)
        return path_of(old, prefixed=True), path_of(f'"{new}', prefixed=True)
    half = len(text) // 2
    old, new = text[:half], text[half + 1 :]
    if text[half : half + 1] == " " and old[2:] == new[2:]:
        return old[2:], new[2:]
    old, _, new = text.partition(" ")
    return path_of(old, prefixed=True), path_of(new, prefixed=True)


def unquoted(text: str) -> str:
    """Undo git's quoting: a backslash with three octal digits is one byte."""
    inner = text[1:-1] if len(text) > 1 and text.endswith('"') else text[1:]
    raw = _ESCAPE.sub(_byte, inner.encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "replace")


def _byte(found: re.Match[bytes]) -> bytes:
    said = found[1].decode()
    return bytes([_ESCAPES[said] if said in _ESCAPES else int(said, 8) & 255])
