"""Repairing: find the pieces of our own work that made checks worse, and leave them out."""

import re
from dataclasses import dataclass, field

from midwatch.crew.housekeeper import checks, planning
from midwatch.crew.housekeeper.answers import (
    HousekeeperCheck,
    HousekeeperCommit,
    HousekeeperDone,
    HousekeeperDropped,
    mark,
    say,
)
from midwatch.crew.housekeeper.bounds.commission import Commission
from midwatch.crew.housekeeper.commits import keys_of, message, work
from midwatch.crew.housekeeper.executing import Proving, refuse_dirty
from midwatch.crew.housekeeper.findings import gone, kept
from midwatch.crew.housekeeper.git import EMAIL, Checkout
from midwatch.crew.housekeeper.kinds import kind
from midwatch.crew.housekeeper.limits import ChangeBudget, ChangeLimits
from midwatch.crew.housekeeper.planning import for_a_person, waiting_in
from midwatch.crew.housekeeper.survey import surveyor_of
from midwatch.errors import Broken
from midwatch.terms.figures import joined, some


@dataclass
class Search:
    """The search for the pieces that made checks worse."""

    checkout: Checkout
    commission: Commission
    proving: Proving
    base: str
    before: tuple[HousekeeperCheck, ...]
    limits: ChangeLimits
    dropped: list[HousekeeperDropped] = field(default_factory=list)

    def harm(self) -> str:
        """Say what is worse here than at the base; empty when nothing is."""
        return checks.first_worse(self.before, self.proving.run(self.checkout))

    def harm_at(self, commit: str) -> str:
        self.checkout.back_to(commit)
        return self.harm()

    def first_bad(self, pieces: tuple[HousekeeperCommit, ...]) -> tuple[int, str]:
        """Bisect the pieces, whose last is known to be bad, to find the first bad one."""
        low, high, why = 0, len(pieces) - 1, ""
        while low < high:
            middle = (low + high) // 2
            found = self.harm_at(pieces[middle].sha)
            low, high, why = (low, middle, found) if found else (middle + 1, high, why)
        return low, why

    def leave_out(self, bad: HousekeeperCommit, later: tuple[HousekeeperCommit, ...], why: str) -> None:
        """Put the later pieces onto the commit before the bad one."""
        self.dropped.append(HousekeeperDropped(subject=bad.subject, why=why))
        mark(f"Took back '{bad.subject}': {why}")
        self.checkout.back_to(f"{bad.sha}^")
        for piece in later:
            if self.checkout.ask("cherry-pick", "--allow-empty", piece.sha).returncode == 0:
                continue
            self.checkout.ask("cherry-pick", "--abort")
            self.checkout.back_to("HEAD")
            if reason := self._do_again(piece, bad):
                self.dropped.append(HousekeeperDropped(subject=piece.subject, why=reason))

    def _do_again(self, lost: HousekeeperCommit, bad: HousekeeperCommit) -> str:
        """Do a piece again that git could not cherry-pick; return why, if that is impossible."""
        surveyor = surveyor_of(self.checkout, self.commission)
        touched = self.checkout.touched(lost.sha)
        found = [f for f in surveyor.survey() if f.finding.path in touched]
        key = next((k for k in keys_of(found) if kind(k).subject == lost.subject), "")
        piece = work(key, surveyor, found, ChangeBudget(ChangeLimits())) if key else None
        if piece is None or not piece.changed:
            return f"it does not apply without '{bad.subject}'"
        before = self.checkout.head()
        self.checkout.commit(message(piece, found), piece.changed)
        # Alone, a piece may need more lines than it did after its neighbours.
        if broken := self._broken_limits():
            self.checkout.back_to(before)
            return f"without '{bad.subject}' it changes more than {joined(broken)}"
        return ""

    def _broken_limits(self) -> tuple[str, ...]:
        head = self.checkout.head()
        whole = self.checkout.lines(self.base, head)
        commits = self.checkout.commits(self.base, head)
        files = {path for commit in commits for path in self.checkout.touched(commit.sha)}
        step_by_step = sum(commit.insertions + commit.deletions for commit in commits)
        in_total = sum(added + removed for added, removed in whole.values())
        return self.limits.exceeded(len(files), max(step_by_step, in_total))


def repair(
    checkout: Checkout, commission: Commission, proving: Proving, base: str, failure: str, limits: ChangeLimits
) -> HousekeeperDone:
    """Take back what made the checks worse, and nothing else."""
    refuse_dirty(checkout)
    start, head = checkout.resolve(base), checkout.head()
    # If this process dies half-way, the whole branch is still found under this name.
    checkout.git("update-ref", "refs/midwatch/before-repair", head)
    _refuse_strangers(checkout, start, head)
    checkout.back_to(start)
    surveyor = surveyor_of(checkout, commission)
    found, notes = surveyor.survey(), surveyor.notes()
    waiting = waiting_in(surveyor, limits)
    search = Search(checkout, commission, proving, start, proving.run(checkout), limits)
    checkout.back_to(head)
    if why := search.harm():
        _drop_until_harmless(search, why)
    elif failure.strip():
        _drop_named(search, failure)
    after = surveyor_of(checkout, commission).survey()
    left = for_a_person(after, waiting)
    commits = checkout.commits(start, checkout.head())
    touched = {path for commit in commits for path in checkout.touched(commit.sha)}
    return HousekeeperDone(
        summary=_summary(commits, search, planning.waits(waiting, touched) + planning.needs_a_person(left), notes),
        base=start,
        head=checkout.head(),
        commits=commits,
        fixed=kept(f for f in gone(found, after) if f.kind and f.finding.path in touched),
        left=kept(left),
        checks_before=search.before,
        checks_after=proving.run(checkout),
        dropped=tuple(search.dropped),
    )


def _drop_until_harmless(search: Search, why: str) -> None:
    while why:
        pieces = search.checkout.commits(search.base, search.checkout.head())
        if not pieces:
            return
        say(f"Looking for the piece that did it among {some(len(pieces), 'commit')}")
        at, seen = search.first_bad(pieces)
        search.leave_out(pieces[at], pieces[at + 1 :], seen or why)
        why = search.harm()


def _drop_named(search: Search, failure: str) -> None:
    """Take back only pieces whose files the failure's text names, because the failure does not occur here."""
    pieces = search.checkout.commits(search.base, search.checkout.head())
    for bad in reversed(pieces):
        named = [p for p in search.checkout.touched(bad.sha) if re.search(rf"(?<![\w/-]){re.escape(p)}\b", failure)]
        if named:
            row = search.checkout.commits(search.base, search.checkout.head())
            at = next(i for i, piece in enumerate(row) if piece.sha == bad.sha)
            search.leave_out(row[at], row[at + 1 :], f"the failing check names {named[0]}, which this piece changed")


def _refuse_strangers(checkout: Checkout, base: str, head: str) -> None:
    if checkout.ask("merge-base", "--is-ancestor", base, head).returncode:
        raise Broken(f"{base[:12]} is not behind the commit that is checked out.", hint="Name the job's own base.")
    for commit in checkout.commits(base, head):
        if checkout.author(commit.sha) != EMAIL:
            raise Broken(
                f"Commit {commit.sha[:12]} is not the housekeeper's, so it is not the housekeeper's to take back.",
                hint="Repair only a branch that holds nothing but the housekeeper's commits.",
            )


def _summary(commits: tuple[HousekeeperCommit, ...], search: Search, left: str, notes: list[str]) -> str:
    if not search.dropped:
        said = "The failure does not show in this checkout, so nothing was taken back"
    else:
        said = f"Took back {some(len(search.dropped), 'piece')}"
    aside = "".join(f" Note: {note}." for note in notes)
    summary = f"{said}; {some(len(commits), 'commit')} stay; {left}.{aside}".replace("1 commit stay", "1 commit stays")
    mark(summary)
    return summary
