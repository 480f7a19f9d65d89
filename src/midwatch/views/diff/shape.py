"""Shapes of a diff for reading: stretches of change, the part of a line that changed, the tree of files."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from midwatch.terms.term import Term
from midwatch.views.diff.diff import DiffFile, DiffLine, Hunk, LineKind

LONGEST_COMPARED = 400
DEEPEST = 24
"""Folders below this depth are shown as one name: a path of two thousand slashes must not break the page."""
LEAST_ALIKE = 0.4
"""Lines less similar than this are two lines, not one that changed."""


class DiffFolder(Term):
    """A folder of the file tree; one with a single folder inside is folded into its name."""

    name: str
    folders: tuple["DiffFolder", ...] = ()
    files: tuple[int, ...] = ()
    """Indexes in the diff's list of files."""


class LineSpan(NamedTuple):
    """A part of a line, from one character up to another."""

    start: int
    end: int


def stretches(hunk: Hunk) -> Iterator[tuple[DiffLine, ...]]:
    """Cut a hunk into stretches of unchanged lines and stretches of change."""
    run: list[DiffLine] = []
    for line in hunk.lines:
        same = line.kind is LineKind.SAME
        # A removed line after an added one begins a new change.
        turned = run and line.kind is LineKind.REMOVED and run[-1].kind is LineKind.ADDED
        if run and ((run[-1].kind is LineKind.SAME) != same or turned):
            yield tuple(run)
            run = []
        run.append(line)
    if run:
        yield tuple(run)


def touched(old: str, new: str) -> tuple[LineSpan, LineSpan]:
    """Find the part that differs in each of two lines; empty when they are too different to compare."""
    nothing = LineSpan(0, 0)
    if max(len(old), len(new)) > LONGEST_COMPARED:
        return nothing, nothing
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < min(len(old), len(new)) - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if SequenceMatcher(None, old.strip(), new.strip(), autojunk=False).quick_ratio() < LEAST_ALIKE:
        return nothing, nothing
    return LineSpan(start, len(old) - tail), LineSpan(start, len(new) - tail)


def tree(files: Sequence[DiffFile]) -> DiffFolder:
    return _folder("", [(tuple(file.path.split("/", DEEPEST)), at) for at, file in enumerate(files)])


def _folder(name: str, inside: Sequence[tuple[tuple[str, ...], int]]) -> DiffFolder:
    here = tuple(at for parts, at in inside if len(parts) == 1)
    groups: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for parts, at in inside:
        if len(parts) > 1:
            groups.setdefault(parts[0], []).append((parts[1:], at))
    folders = tuple(_folded(_folder(key, group)) for key, group in sorted(groups.items()))
    return DiffFolder(name=name, folders=folders, files=here)


def _folded(folder: DiffFolder) -> DiffFolder:
    if folder.files or len(folder.folders) != 1:
        return folder
    only = folder.folders[0]
    return DiffFolder(name=f"{folder.name}/{only.name}", folders=only.folders, files=only.files)
