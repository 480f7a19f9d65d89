"""What runs of checks say: one command over several runs, a change over its base, and work without commits."""

from collections.abc import Iterable, Sequence
from typing import Literal

from midwatch.rules.gate.levels import HOUSEKEEPER
from midwatch.terms.english import reason
from midwatch.terms.figures import some
from midwatch.terms.jobs import (
    NOT_DELIVERABLE,
    CheckResult,
    CheckSource,
    Doubt,
    Dropped,
    Proof,
    RepairTries,
    Survey,
)
from midwatch.terms.trust import Reason

Results = tuple[CheckResult, ...]


def kept_back(proof: Proof | None, deliver_red: Literal["never", "draft"]) -> bool:
    """Whether checked work stays here instead of being pushed."""
    return deliver_red == "never" and proof is not None and proof.verdict in NOT_DELIVERABLE


def judge_runs(runs: Sequence[int]) -> Literal["green", "red", "flaky"]:
    """Judge the exit codes of one command on one tree; what ends both ways is neither green nor red."""
    if not runs:
        return "red"  # what was never seen to pass has not passed
    if any(runs) and not all(runs):
        return "flaky"
    return "red" if any(runs) else "green"


def with_reruns(result: CheckResult, codes: Sequence[int]) -> CheckResult:
    """Add later runs of the same command on the same commit to its result."""
    reruns = (*result.reruns, *codes)
    flaky = judge_runs((result.exit_code, *reruns)) == "flaky"
    return result.model_copy(update={"reruns": reruns, "flaky": flaky})


def to_rerun(before: Results, after: Results) -> tuple[str, ...]:
    """Name the checks that are newly red: they are run again, because they may be flaky."""
    earlier = {one.command: one for one in before}
    return tuple(one.command for one in after if one.red and _is_news(earlier.get(one.command), one))


def to_rerun_on_base(before: Results, after: Results) -> tuple[str, ...]:
    """Name the checks for which it matters whether the base is flaky too.

    That is where the work is flaky and the base looked green, and where red turned green: luck looks the same.
    """
    earlier = {one.command: one for one in before}
    asked = []
    for one in after:
        base = earlier.get(one.command)
        if base is not None and not base.reruns and ((one.flaky and base.green) or (one.green and base.red)):
            asked.append(one.command)
    return tuple(asked)


def _is_news(before: CheckResult | None, after: CheckResult) -> bool:
    return before is None or before.green or before.flaky or redder(before, after)


def redder(before: CheckResult | None, after: CheckResult) -> bool:
    """Whether a check got worse; one that was not seen red before was not red."""
    if after.green:
        return False
    if before is None or before.green:
        return True
    if before.flaky:
        return after.red  # passed now and then before, never now
    if after.flaky or before.failures is None:
        return False
    # Fewer failures with a higher exit code is a run that broke off, as pytest's 2 after its 1.
    return after.failures is None or after.failures > before.failures or after.exit_code > before.exit_code


def not_done(results: Results) -> Results:
    """Give the conditions of the orders that do not hold; one that holds now and then does not."""
    return tuple(one for one in results if one.source is CheckSource.DONE_WHEN and not one.green)


def failing(proof: Proof) -> Results:
    """Give the results that keep a change from being delivered, each command once, by its decisive run."""
    earlier = {one.command: one for one in proof.before}
    delivered = {one.command: one for one in proof.delivered}
    unmet = not_done(proof.delivered)
    found = {one.command: one for one in proof.delivered if one in unmet or redder(earlier.get(one.command), one)}
    unmet = not_done(proof.restored)
    for one in proof.restored:
        as_delivered = delivered.get(one.command)
        only_delivered = one.red and (as_delivered is None or as_delivered.green)
        if only_delivered or one in unmet or redder(earlier.get(one.command), one):
            found.setdefault(one.command, one)
    return tuple(found.values())


def judge_proof(before: Results, delivered: Results, restored: Results, doubts: Iterable[Doubt] = ()) -> Proof:
    """Say what three runs prove; green only as delivered, not with the base's own check files, counts as red."""
    result = tuple(doubts)
    proof = Proof(before=before, delivered=delivered, restored=restored, doubts=result)
    return proof.model_copy(update={"verdict": _verdict(proof)})


def _verdict(proof: Proof) -> str:
    runs = (*proof.delivered, *proof.restored)
    earlier = {result.command: result for result in proof.before}
    passes = bool(proof.delivered) and all(result.green for result in proof.delivered)
    if passes and (not proof.restored or any(result.red for result in proof.restored)):
        return "red_when_restored"
    if any(redder(earlier.get(result.command), result) for result in runs):
        return "worse"
    if proof.grave:
        return "doubted"
    if not proof.delivered:
        return "no_checks"
    return "not_done" if not_done(runs) else _colour(runs)


def _colour(runs: Results) -> str:
    if all(result.green for result in runs):
        return "green"
    return "still_red" if any(result.red for result in runs) else "flaky"


DOUBTS = "doubts"
"""The failure that is no check: the work weakens what should prove it."""


def failures_of(proof: Proof) -> tuple[str, ...]:
    """Name what keeps a change from being delivered: check commands, and the doubts where only they do."""
    if proof.verdict not in NOT_DELIVERABLE:
        return ()
    red = tuple(one.command for one in failing(proof))
    return (*red, DOUBTS) if proof.grave else red


def carry_on(earlier: Proof | None, proof: Proof) -> Proof:
    """Count the last round: each failure it should have repaired has used one more."""
    if earlier is None:
        return proof
    rounds = {one.failure: one.rounds for one in earlier.tried}
    for failure in failures_of(earlier):
        rounds[failure] = rounds.get(failure, 0) + 1
    tried = tuple(RepairTries(failure=name, rounds=count) for name, count in rounds.items())
    return proof.model_copy(update={"tried": tried})


def may_repair(proof: Proof, *, each: int, rounds: int) -> bool:
    """Whether another round follows: some failure has rounds left, and all of them together are bounded."""
    failures = failures_of(proof)
    had = {one.failure: one.rounds for one in proof.tried}
    most = each * max(1, len(proof.delivered) + bool(proof.grave))
    return rounds < most and any(had.get(failure, 0) < each for failure in failures)


def to_repair(proof: Proof, *, each: int) -> tuple[str, ...]:
    """Name the failures that have rounds left; the prompt of the next round is about them."""
    had = {one.failure: one.rounds for one in proof.tried}
    return tuple(failure for failure in failures_of(proof) if had.get(failure, 0) < each)


def shown_unneeded(agent: str, survey: Survey | None, dropped: Sequence[Dropped] = ()) -> Reason | None:
    """Confirm that an ordered change was not needed (RULES 10): rules read every file, and nothing is left to fix.

    A model that says so shows nothing: its word is what would have to be checked.
    """
    if agent != HOUSEKEEPER or survey is None or dropped:
        return None
    if not survey.files or survey.fixable:
        return None
    return reason("done.unneeded", files=some(survey.files, "file"))


def already_true(results: Results) -> Reason | None:
    """Confirm it by what ran on the base: the orders' own condition holds there, and so does every check."""
    conditions = [one.command for one in results if one.source is CheckSource.DONE_WHEN]
    if not conditions or not all(one.green for one in results):
        return None
    return reason("done.already", commands=_quoted(conditions))


def not_yet(results: Results) -> str:
    """Say what keeps work without commits from being done: the conditions that do not hold, or else the checks."""
    unmet = not_done(results)
    red = [one.command for one in (unmet or [one for one in results if not one.green])]
    what = "What shows that it is done does not pass" if unmet else "The checks do not pass"
    return f"{what} without a change: {_quoted(red)}." if red else ""


def _quoted(commands: Sequence[str]) -> str:
    return ", ".join(f"`{one}`" for one in commands)
