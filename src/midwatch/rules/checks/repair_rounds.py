"""How often each failure may be repaired: a number of rounds each, and a bound on all together."""

from midwatch.rules.checks.check_runs import NOT_DELIVERABLE, failing
from midwatch.terms.jobs import Proof
from midwatch.terms.proof import RepairTries

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


def may_mend(proof: Proof, *, each: int, rounds: int) -> bool:
    """Whether another round follows: some failure has rounds left, and all of them together are bounded."""
    failures = failures_of(proof)
    had = {one.failure: one.rounds for one in proof.tried}
    most = each * max(1, len(proof.delivered) + bool(proof.grave))
    return rounds < most and any(had.get(failure, 0) < each for failure in failures)


def to_mend(proof: Proof, *, each: int) -> tuple[str, ...]:
    """Name the failures that have rounds left; the prompt of the next round is about them."""
    had = {one.failure: one.rounds for one in proof.tried}
    return tuple(failure for failure in failures_of(proof) if had.get(failure, 0) < each)
