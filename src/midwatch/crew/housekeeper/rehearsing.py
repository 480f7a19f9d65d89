"""Rehearsing: the whole work done on a copy, so that what is said about it beforehand is true."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from midwatch.crew.housekeeper import kinds
from midwatch.crew.housekeeper.found import Found
from midwatch.crew.housekeeper.limits import Budget, Limits, Waiting
from midwatch.crew.housekeeper.pieces import Piece, keys_of, work
from midwatch.crew.housekeeper.survey import Surveyor
from midwatch.crew.housekeeper.tree import Tree
from midwatch.crew.housekeeper.voice import say


@dataclass(frozen=True)
class Rehearsal:
    """How the work would go."""

    found: list[Found]
    pieces: list[Piece]
    waiting: Waiting
    left: list[Found]
    """What only a person can do."""
    lines: int
    notes: list[str]

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that would change."""
        return tuple(sorted({path for piece in self.pieces for path in piece.changed}))


def rehearse(tree: Tree, limits: Limits) -> Rehearsal:
    """Do everything that fits, on a copy."""
    budget = Budget(limits)
    with tempfile.TemporaryDirectory(prefix="midwatch-rehearsal-") as place:
        surveyor = Surveyor(tree.copied_to(Path(place).resolve()))
        notes, found = surveyor.notes(), surveyor.survey()
        pieces = []
        for key in keys_of(found):
            piece = work(key, surveyor, surveyor.survey(), budget)
            if piece.changed:
                say(f"Would {kinds.kind(key).intent(piece.places, len(piece.changed))}")
                pieces.append(piece)
        left = for_a_person(surveyor.survey(), budget.waiting())
    return Rehearsal(found, pieces, budget.waiting(), left, budget.lines, notes)


def waiting_in(tree: Tree, limits: Limits) -> Waiting:
    """What the limits would leave out of this tree; without limits there is nothing to find out."""
    return rehearse(tree, limits).waiting if limits.are_set else Waiting()


def for_a_person(left: list[Found], waiting: Waiting) -> list[Found]:
    """What is left and does not just wait for another night."""
    return [f for f in left if (f.kind, f.finding.path) not in waiting.places]
