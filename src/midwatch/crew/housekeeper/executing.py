"""Executing: one commit per kind of work, each verified by the checks before the next starts."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from midwatch.crew.housekeeper import checks, planning
from midwatch.crew.housekeeper.answers import HousekeeperCheck, HousekeeperDone, HousekeeperDropped, mark, say
from midwatch.crew.housekeeper.bounds.commission import Commission
from midwatch.crew.housekeeper.commits import Piece, keys_of, message, work
from midwatch.crew.housekeeper.findings import FixableFinding, gone, kept
from midwatch.crew.housekeeper.git import Checkout
from midwatch.crew.housekeeper.limits import ChangeBudget, ChangeLimits
from midwatch.crew.housekeeper.planning import for_a_person, waiting_in
from midwatch.crew.housekeeper.survey import Surveyor, surveyor_of
from midwatch.errors import Broken
from midwatch.terms.figures import some

MARKER = "midwatch-housekeeper.json"


@dataclass
class Work:
    """The progress of the work."""

    base: str
    head: str
    before: tuple[HousekeeperCheck, ...]
    now: tuple[HousekeeperCheck, ...]
    budget: ChangeBudget
    done: list[Piece] = field(default_factory=list)
    dropped: list[HousekeeperDropped] = field(default_factory=list)


@dataclass(frozen=True)
class Proving:
    """The checks to run, and how long each may take."""

    commands: tuple[str, ...]
    seconds: float
    pulse: float = checks.PULSE

    def run(self, checkout: Checkout) -> tuple[HousekeeperCheck, ...]:
        """Run the checks, then undo what they did to tracked files."""
        results = checks.run_all(self.commands, checkout.root, checks.Patience(self.seconds, self.pulse))
        checkout.back_to("HEAD")
        return results


def execute(
    checkout: Checkout, commission: Commission, proving: Proving, approved: frozenset[str], limits: ChangeLimits
) -> HousekeeperDone:
    """Do the work in the files the plan names, within the limits, and leave no check worse than it was."""
    base = _begin(checkout)
    surveyor = surveyor_of(checkout, commission)
    waiting = waiting_in(surveyor, limits)
    found = surveyor.survey()
    notes = surveyor.notes()
    say(f"Found {some(len(found), 'place')} worth a look; running {some(len(proving.commands), 'check')} first")
    before = proving.run(checkout)
    _tell_checks(before)
    so_far = Work(base=base, head=base, before=before, now=before, budget=ChangeBudget(limits))
    for key in keys_of(_within(found, approved)):
        _do(key, _within(surveyor.survey(), approved), surveyor, proving, so_far)
    after = surveyor.survey()
    waiting |= so_far.budget.waiting()
    left = for_a_person(after, waiting)
    summary = planning.done(so_far.done, len(so_far.dropped), waiting, left, notes)
    _marker(checkout).unlink(missing_ok=True)
    mark(summary)
    return HousekeeperDone(
        summary=summary,
        base=base,
        head=so_far.head,
        commits=checkout.commits(base, so_far.head),
        fixed=kept(_fixed(found, after, so_far.done)),
        left=kept(left),
        checks_before=so_far.before,
        checks_after=so_far.now,
        dropped=tuple(so_far.dropped),
        survey=planning.surveyed(surveyor.tree, left, waiting, surveyor.restraint.barred()),
        risks=tuple(planning.risks_of({piece.key for piece in so_far.done}, proving.commands)),
    )


def _within(found: list[FixableFinding], approved: frozenset[str]) -> list[FixableFinding]:
    """Keep the findings in approved files; those in other files were not approved."""
    return [f for f in found if f.finding.path in approved]


def _do(key: str, found: list[FixableFinding], surveyor: Surveyor, proving: Proving, so_far: Work) -> None:
    """Do one piece, and keep it only if no check gets worse."""
    checkout = Checkout(surveyor.tree.root)
    piece = work(key, surveyor, found, so_far.budget)
    if not piece.changed:
        return
    commit = checkout.commit(message(piece, found), piece.changed)
    say(f"{piece.subject}: {some(piece.places, 'place')} in {some(len(piece.changed), 'file')}; checking")
    after = proving.run(checkout)
    why = checks.first_worse(so_far.now, after) or checks.first_worse(so_far.before, after)
    if why:
        checkout.back_to(so_far.head)
        so_far.dropped.append(HousekeeperDropped(subject=piece.subject, why=why))
        mark(f"Took back '{piece.subject}': {why}")
        return
    so_far.head, so_far.now = commit, after
    so_far.done.append(piece)
    mark(f"Committed '{piece.subject}'")


def _fixed(before: list[FixableFinding], after: list[FixableFinding], done: list[Piece]) -> list[FixableFinding]:
    changed = {(piece.key, path) for piece in done for path in piece.changed}
    return [f for f in gone(before, after) if (f.kind, f.finding.path) in changed]


def _tell_checks(results: tuple[HousekeeperCheck, ...]) -> None:
    for result in results:
        say(f"Before: `{result.command}` {'passes' if result.green else f'ends with exit {result.exit_code}'}")


def _begin(checkout: Checkout) -> str:
    """Find the starting point; after a killed attempt, reset to it and start again."""
    marker = _marker(checkout)
    if marker.is_file():
        (marker.parent / "index.lock").unlink(missing_ok=True)
        base = str(json.loads(marker.read_text(encoding="utf-8"))["base"])
        checkout.back_to(base)
        say("An earlier attempt was cut short here; starting again from where it began")
    refuse_dirty(checkout)
    base = checkout.head()
    marker.write_text(json.dumps({"base": base}), encoding="utf-8")
    return base


def refuse_dirty(checkout: Checkout) -> None:
    """Refuse a checkout with uncommitted work, which could be committed or lost."""
    changed = checkout.changed()
    if changed:
        raise Broken(
            f"The checkout has uncommitted changes ({some(len(changed), 'file')}, first {changed[0]}).",
            hint="Give the housekeeper a clean private checkout.",
        )


def _marker(checkout: Checkout) -> Path:
    return Path(checkout.git("rev-parse", "--absolute-git-dir").strip()) / MARKER
