"""What one job is for: the paths, the kinds of work its order names, and the earlier proposals it must not repeat."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from midwatch.crew.housekeeper import kinds
from midwatch.crew.housekeeper.bounds.earlier import EarlierChange, EarlierWork
from midwatch.crew.housekeeper.bounds.mandate import Mandate
from midwatch.crew.housekeeper.bounds.scope import PathScope
from midwatch.crew.housekeeper.findings import FixableFinding
from midwatch.crew.housekeeper.tree import Tree
from midwatch.terms.figures import joined, some

Piece = tuple[str, str]
"""A kind of work in one file."""


@dataclass(frozen=True)
class Commission:
    """What the orders say about one job of the housekeeper."""

    paths: PathScope
    mandate: Mandate
    earlier: tuple[EarlierWork, ...]


@dataclass
class Restraint:
    """Leaves out what the order does not name, and what an earlier pull request proposes or proposed."""

    mandate: Mandate
    earlier: tuple[EarlierChange, ...]
    _barred: dict[Piece, EarlierWork | None] = field(default_factory=dict)
    """Decided once for each, on the text as it was before any work."""
    _unnamed: Counter[str] = field(default_factory=Counter)

    def permitted(self, found: list[FixableFinding], tree: Tree) -> list[FixableFinding]:
        """Return the findings that may be fixed, and those that only a person can fix."""
        unnamed = [f for f in found if f.kind and not self._is_named(f)]
        self._unnamed = self._unnamed or Counter(f.kind for f in unnamed)
        named = [f for f in found if not f.kind or self._is_named(f)]
        groups: dict[Piece, list[FixableFinding]] = defaultdict(list)
        for one in named:
            if one.kind:
                groups[one.kind, one.finding.path].append(one)
        for piece, places in groups.items():
            if piece not in self._barred:
                self._barred[piece] = self._bar(piece, places, tree)
        return [f for f in named if self._barred.get((f.kind, f.finding.path)) is None]

    def barred(self) -> int:
        """Count what could be fixed and waits for an earlier pull request, or was rejected with one."""
        return sum(work is not None for work in self._barred.values())

    def notes(self) -> list[str]:
        """Say what was left alone, and why."""
        said = []
        if self._unnamed:
            ordered = kinds.in_order(set(self._unnamed))
            places = [some(self._unnamed[key], *kinds.kind(key).place) for key in ordered]
            stay = "it stays" if self._unnamed.total() == 1 else "they stay"
            said.append(f"the order does not name {joined(places)}, so {stay}")
        by_work: dict[EarlierWork, set[str]] = defaultdict(set)
        for (_, path), work in self._barred.items():
            if work is not None:
                by_work[work].add(path)
        return said + [work.said(len(paths)) for work, paths in by_work.items()]

    def _is_named(self, found: FixableFinding) -> bool:
        return self.mandate.covers(found.kind, found.finding.rule, found.finding.tool)

    def _bar(self, piece: Piece, places: list[FixableFinding], tree: Tree) -> EarlierWork | None:
        kind, path = piece
        here = [change for change in self.earlier if change.path == path]
        if not here:
            return None
        lines = frozenset(tree.lines(path))
        texts = frozenset(one.finding.excerpt for one in places)
        return next((change.work for change in here if change.bars(kind, lines, texts)), None)
