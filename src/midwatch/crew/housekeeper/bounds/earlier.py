"""The housekeeper's earlier proposals: those in open pull requests, and those that people rejected."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from midwatch.crew.housekeeper import kinds
from midwatch.crew.housekeeper.git import Checkout
from midwatch.terms.figures import some

OPEN, REJECTED = "open", "rejected"
Line = tuple[str, str]
"""A path and the text of a line in it."""
HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True)
class EarlierWork:
    """One pull request of the housekeeper, by the commits it is made of."""

    number: int
    state: str
    base: str
    head: str

    def said(self, files: int) -> str:
        """Say why so many files are left alone."""
        if self.state == OPEN:
            wait = f"{some(files, 'file')} {'waits' if files == 1 else 'wait'} for pull request {self.number}"
            return f"{wait}, which is open and changes the same places"
        why = f"they were rejected with pull request {self.number} and the code there is still the same"
        return f"changes in {some(files, 'file')} are left out, because {why}"


@dataclass(frozen=True)
class EarlierChange:
    """What one commit of an earlier pull request did to one file."""

    work: EarlierWork
    subject: str
    path: str
    removed: frozenset[str]
    """The lines it removed or changed."""

    def bars(self, kind: str, lines: frozenset[str], places: frozenset[str]) -> bool:
        """Whether it keeps this kind of work away from a file with these lines, to be changed at these places."""
        same = self.subject == kinds.kind(kind).subject
        if self.work.state == REJECTED:
            still = {one for one in self.removed & lines if kind == kinds.WHITESPACE or re.search(r"\w", one)}
            return same and bool(still)
        rewrites = kinds.kind(kinds.FORMAT).subject
        changed = {one.strip() for one in self.removed} - {""}
        return same or kind == kinds.FORMAT or self.subject == rewrites or bool(changed & places)


def read_work(text: str) -> EarlierWork:
    """Read `open:3:<base>:<head>`; ValueError if it is nothing like that."""
    state, number, base, head = text.split(":")
    if state not in {OPEN, REJECTED} or not all(re.fullmatch(r"[0-9a-f]{40,64}", one) for one in (base, head)):
        raise ValueError(text)
    return EarlierWork(int(number), state, base, head)


def changes_of(checkout: Checkout, works: tuple[EarlierWork, ...]) -> tuple[EarlierChange, ...]:
    """List what earlier pull requests change; commits that are no longer here are passed over."""
    return tuple(change for work in works for change in _changes(checkout, work))


def _changes(checkout: Checkout, work: EarlierWork) -> Iterator[EarlierChange]:
    listing = checkout.ask("rev-list", "--reverse", "--no-merges", f"{work.base}..{work.head}")
    began: dict[Line, frozenset[str]] = {}
    for sha in listing.stdout.split() if listing.returncode == 0 else ():
        subject = checkout.git("show", "-s", "--format=%s", sha).strip()
        shown = checkout.git("diff-tree", "-r", "-p", "-U0", "--text", "--no-renames", "--no-commit-id", sha)
        found: dict[str, set[str]] = {}
        for hunk in _hunks(shown):
            found.setdefault(hunk.path, set()).update(*_traced(hunk, began))
        yield from (EarlierChange(work, subject, path, frozenset(lines)) for path, lines in found.items())


@dataclass
class PatchHunk:
    """Lines that one commit replaced with others in one place."""

    path: str
    old: list[str]
    new: list[str]


def _traced(hunk: PatchHunk, began: dict[Line, frozenset[str]]) -> list[frozenset[str]]:
    """Return the lines it removed as they were before the pull request, whose earlier commits may have changed them."""
    origins = [began.get((hunk.path, line), frozenset({line})) for line in hunk.old]
    is_line_by_line = len(hunk.old) == len(hunk.new)
    for at, line in enumerate(hunk.new):
        began[hunk.path, line] = origins[at] if is_line_by_line else frozenset[str]().union(*origins)
    return origins


def _hunks(patch: str) -> list[PatchHunk]:
    """Read a patch; the counts of each hunk tell its lines from the headings of files."""
    found, path, old, new = list[PatchHunk](), "", 0, 0
    for line in patch.split("\n"):
        if old and line.startswith("-"):
            old -= 1
            found[-1].old.append(line[1:].removesuffix("\r"))
        elif new and line.startswith("+"):
            new -= 1
            found[-1].new.append(line[1:].removesuffix("\r"))
        elif sizes := HUNK.match(line):
            old, new = (int(size or 1) for size in sizes.groups())
            found.append(PatchHunk(path, [], []))
        elif line.startswith("--- a/"):
            path = line.removeprefix("--- a/").removesuffix("\t")
    return found
