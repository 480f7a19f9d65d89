"""Planning: the whole work rehearsed on a copy, so that the plan is true and the checkout stays as it is."""

from midwatch.crew.housekeeper import kinds, wording
from midwatch.crew.housekeeper.found import kept
from midwatch.crew.housekeeper.git import Checkout
from midwatch.crew.housekeeper.limits import Limits
from midwatch.crew.housekeeper.pieces import Piece
from midwatch.crew.housekeeper.rehearsing import rehearse
from midwatch.crew.housekeeper.scope import Scope
from midwatch.crew.housekeeper.tree import look
from midwatch.crew.housekeeper.voice import count, mark, say
from midwatch.terms.jobs import Plan


def plan(checkout: Checkout, scope: Scope, commands: tuple[str, ...], limits: Limits) -> Plan:
    """Say what would be done within the limits, without touching anything."""
    head = checkout.head()
    tree = look(checkout, scope)
    say(f"Looking at {count(len(tree.mine), 'file')}, {len(tree.python())} of them Python")
    rehearsal = rehearse(tree, limits)
    pieces = rehearsal.pieces
    summary = wording.planned(pieces, rehearsal.waiting, rehearsal.left, rehearsal.notes)
    mark(summary)
    return Plan(
        summary=summary,
        approach=_approach(pieces, commands),
        files=rehearsal.files,
        risks=(*_risks(pieces, commands), *rehearsal.notes),
        checks=commands,
        estimate_files=len(rehearsal.files),
        estimate_lines=rehearsal.lines,
        blast_radius=_blast_radius(pieces),
        undo=f"git reset --hard {head[:12]}, or git revert of any one commit: each stands alone." if pieces else "",
        findings=kept(rehearsal.found),
    )


def _blast_radius(pieces: list[Piece]) -> str:
    """Tell who would notice."""
    if not pieces:
        return ""
    return "Code that imports or reads these files; nothing outside the repository."


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
