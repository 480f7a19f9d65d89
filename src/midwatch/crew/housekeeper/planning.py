"""Planning: the whole work is done on a copy, so that the plan is exact; and the sentences about it."""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from midwatch.crew.housekeeper import kinds
from midwatch.crew.housekeeper.answers import HousekeeperPlan, HousekeeperSurvey, mark, say
from midwatch.crew.housekeeper.bounds.commission import Commission, Restraint
from midwatch.crew.housekeeper.commits import Piece, keys_of, work
from midwatch.crew.housekeeper.findings import KEPT, FixableFinding, kept
from midwatch.crew.housekeeper.git import Checkout
from midwatch.crew.housekeeper.limits import ChangeBudget, ChangeLimits, Waiting
from midwatch.crew.housekeeper.survey import Surveyor, surveyor_of
from midwatch.crew.housekeeper.tree import Tree
from midwatch.terms.figures import joined, some


def plan(
    checkout: Checkout, commission: Commission, commands: tuple[str, ...], limits: ChangeLimits
) -> HousekeeperPlan:
    """Return what would be done within the limits, without changing anything."""
    checkout.head()  # refuses a repository without a commit
    surveyor = surveyor_of(checkout, commission)
    tree = surveyor.tree
    say(f"Looking at {some(len(tree.mine), 'file')}, {len(tree.python())} of them Python")
    rehearsal = rehearse(surveyor, limits)
    pieces = rehearsal.pieces
    summary = planned(pieces, rehearsal.waiting, rehearsal.left, rehearsal.notes)
    mark(summary)
    return HousekeeperPlan(
        summary=summary,
        approach=_approach(commission.mandate.said(surveyor.offered()), pieces, commands),
        files=rehearsal.files,
        risks=(*risks_of({piece.key for piece in pieces}, commands), *rehearsal.notes),
        checks=commands,
        estimate_files=len(rehearsal.files),
        estimate_lines=rehearsal.lines,
        blast_radius=_blast_radius(pieces),
        undo="git revert of any one commit: each is independent. Nothing else changes." if pieces else "",
        findings=kept(rehearsal.found),
        survey=surveyed(tree, rehearsal.left, rehearsal.waiting, rehearsal.barred),
    )


def surveyed(tree: Tree, left: list[FixableFinding], waiting: Waiting, barred: int) -> HousekeeperSurvey:
    """Return how much was read, and how much of it could be fixed and is not, for whatever reason."""
    fixable = len(waiting.places) + sum(bool(f.kind) for f in left) + barred
    return HousekeeperSurvey(files=len(tree.mine), fixable=fixable)


def _blast_radius(pieces: list[Piece]) -> str:
    """Return what a change could affect."""
    if not pieces:
        return ""
    return "Code that imports or reads these files; nothing outside the repository."


def _approach(meant: str, pieces: list[Piece], commands: tuple[str, ...]) -> tuple[str, ...]:
    opening = (meant,) if meant else ()
    if not pieces:
        return opening
    steps = [f"{p.subject}: {some(p.places, 'place')} in {some(len(p.changed), 'file')}" for p in pieces]
    proof = "Run the checks before, and after each piece; take back a piece that makes any of them worse"
    return (
        *opening,
        *steps,
        proof if commands else "No checks were given: each piece is one commit, easy to take back",
    )


def risks_of(keys: set[str], commands: tuple[str, ...]) -> list[str]:
    """Name the risks of the kinds of work that are done."""
    risks = []
    if kinds.IMPORTS in keys:
        risks.append("an import that looks unused may be needed for its side effects")
    if "F632" in keys:
        risks.append("comparing by == instead of `is` can change results")
    if keys and not commands:
        risks.append("no checks were given, so nothing proves that the project still works")
    return risks


@dataclass(frozen=True)
class DryRun:
    """How the work would go."""

    found: list[FixableFinding]
    pieces: list[Piece]
    waiting: Waiting
    left: list[FixableFinding]
    """What only a person can do."""
    lines: int
    notes: list[str]
    barred: int
    """What an earlier pull request keeps it from."""

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that would change."""
        return tuple(sorted({path for piece in self.pieces for path in piece.changed}))


def rehearse(original: Surveyor, limits: ChangeLimits) -> DryRun:
    """Do everything that fits, on a copy."""
    budget = ChangeBudget(limits)
    with tempfile.TemporaryDirectory(prefix="midwatch-rehearsal-") as place:
        restraint = Restraint(original.restraint.mandate, original.restraint.earlier)
        surveyor = Surveyor(original.tree.copied_to(Path(place).resolve()), restraint)
        found = surveyor.survey()
        notes = surveyor.notes()
        pieces = []
        for key in keys_of(found):
            piece = work(key, surveyor, surveyor.survey(), budget)
            if piece.changed:
                say(f"Would {kinds.kind(key).intent(piece.places, len(piece.changed))}")
                pieces.append(piece)
        left = for_a_person(surveyor.survey(), budget.waiting())
    return DryRun(found, pieces, budget.waiting(), left, budget.lines, notes, surveyor.restraint.barred())


def waiting_in(surveyor: Surveyor, limits: ChangeLimits) -> Waiting:
    """What the limits would leave out of this tree; empty without limits."""
    return rehearse(surveyor, limits).waiting if limits.are_set else Waiting()


def for_a_person(left: list[FixableFinding], waiting: Waiting) -> list[FixableFinding]:
    """The findings that do not just wait for another night."""
    return [f for f in left if (f.kind, f.finding.path) not in waiting.places]


def planned(pieces: list[Piece], waiting: Waiting, left: list[FixableFinding], notes: Iterable[str]) -> str:
    """One sentence about the plan."""
    intents = [kinds.kind(p.key).intent(p.places, len(p.changed)) for p in pieces]
    nothing = "Nothing to fix within the limits" if waiting.places else "Nothing to fix"
    doing = _capital(joined(intents)) if intents else nothing
    return f"{doing}; {_wait(waiting, pieces)}{needs_a_person(left)}.{_aside(notes)}"


def done(pieces: list[Piece], dropped: int, waiting: Waiting, left: list[FixableFinding], notes: Iterable[str]) -> str:
    """One sentence about the work."""
    subjects = [p.subject[0].lower() + p.subject[1:] for p in pieces]
    said = f"Made {some(len(pieces), 'commit')}: {joined(subjects)}" if pieces else "Changed nothing"
    taken = f"; took back {some(dropped, 'piece')} that made checks worse" if dropped else ""
    return f"{said}{taken}; {_wait(waiting, pieces)}{needs_a_person(left)}.{_aside(notes)}"


def waits(waiting: Waiting, changed: set[str]) -> str:
    """What the limits left out, as a clause to put before another; empty if nothing."""
    more, again = waiting.files() - changed - waiting.large_files(), waiting.files() & changed
    parts = [some(len(more), "more file")] if more else []
    if again:
        parts.append(f"more work in {some(len(again), 'changed file')}")
    said = ""
    if parts:
        verb = "waits" if len(parts) == 1 and len(more) <= 1 else "wait"
        limit = "limit is" if len(waiting.because) == 1 else "limits are"
        said = f"{joined(parts)} {verb} for another night: the {limit} {joined(waiting.because)}; "
    if large := waiting.large_files():
        verb = "needs" if len(large) == 1 else "need"
        said += f"{some(len(large), 'file')} {verb} a higher limit of lines, the first is {min(large)}; "
    return said


def needs_a_person(left: list[FixableFinding]) -> str:
    if not left:
        return "nothing is left for a person"
    verb = "needs" if len(left) == 1 else "need"
    more = f" (the most serious {KEPT} are listed)" if len(left) > KEPT else ""
    return f"{some(len(left), 'finding')} {verb} a person{more}"


def _wait(waiting: Waiting, pieces: list[Piece]) -> str:
    return waits(waiting, {path for piece in pieces for path in piece.changed})


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _aside(notes: Iterable[str]) -> str:
    return "".join(f" Note: {note}." for note in notes)
