"""Planning: the whole work rehearsed on a copy, so that the plan is true and the checkout stays as it is."""

import difflib
import io
import tempfile
from pathlib import Path

from midwatch.crew.housekeeper import kinds, wording
from midwatch.crew.housekeeper.found import Found, kept
from midwatch.crew.housekeeper.git import Checkout
from midwatch.crew.housekeeper.pieces import Piece, keys_of, work
from midwatch.crew.housekeeper.scope import Scope
from midwatch.crew.housekeeper.survey import Surveyor
from midwatch.crew.housekeeper.tree import Tree, look
from midwatch.crew.housekeeper.voice import count, mark, say
from midwatch.terms.jobs import Plan


def plan(checkout: Checkout, scope: Scope, commands: tuple[str, ...]) -> Plan:
    """Say what would be done, without touching anything."""
    head = checkout.head()
    tree = look(checkout, scope)
    say(f"Looking at {count(len(tree.mine), 'file')}, {len(tree.python())} of them Python")
    with tempfile.TemporaryDirectory(prefix="midwatch-rehearsal-") as place:
        copy = tree.copied_to(Path(place).resolve())
        surveyor = Surveyor(copy)
        notes = surveyor.notes()
        found = surveyor.survey()
        pieces = _rehearse(surveyor, found)
        left = surveyor.survey()
        lines = sum(_lines_changed(tree, copy, path) for path in _files(pieces))
    summary = wording.planned(pieces, left, notes)
    mark(summary)
    return Plan(
        summary=summary,
        approach=_approach(pieces, commands),
        files=_files(pieces),
        risks=(*_risks(pieces, commands), *notes),
        checks=commands,
        estimate_files=len(_files(pieces)),
        estimate_lines=lines,
        undo=f"git reset --hard {head[:12]}, or git revert of any one commit: each stands alone." if pieces else "",
        findings=kept(found),
    )


def _rehearse(surveyor: Surveyor, found: list[Found]) -> list[Piece]:
    pieces = []
    for key in keys_of(found):
        piece = work(key, surveyor, surveyor.survey())
        if piece.changed:
            say(f"Would {kinds.kind(key).intent(piece.places, len(piece.changed))}")
            pieces.append(piece)
    return pieces


def _files(pieces: list[Piece]) -> tuple[str, ...]:
    return tuple(sorted({path for piece in pieces for path in piece.changed}))


def _approach(pieces: list[Piece], commands: tuple[str, ...]) -> tuple[str, ...]:
    if not pieces:
        return ()
    steps = [f"{p.subject}: {count(p.places, 'place')} in {count(len(p.changed), 'file')}" for p in pieces]
    proof = "Run the checks before, and after each piece; take back a piece that makes any of them worse"
    return (*steps, proof if commands else "No checks were given: each piece is one commit, easy to take back")


def _risks(pieces: list[Piece], commands: tuple[str, ...]) -> list[str]:
    keys = {p.key for p in pieces}
    risks = []
    if kinds.IMPORTS in keys:
        risks.append("an import that looks unused may be wanted for what importing it does")
    if "F632" in keys:
        risks.append("comparing by == instead of `is` can change results")
    if pieces and not commands:
        risks.append("no checks were given, so nothing proves that the project still works")
    return risks


def _lines_changed(before: Tree, after: Tree, path: str) -> int:
    old, new = (list(io.StringIO(tree.read(path).decode("utf-8"), newline="\n")) for tree in (before, after))
    rows = difflib.unified_diff(old, new, n=0, lineterm="")
    return sum(row[:1] in {"+", "-"} and row[:3] not in {"+++", "---"} for row in rows)
