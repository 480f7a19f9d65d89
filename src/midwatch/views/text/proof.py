"""What a proof says, in words: its verdict, doubts, new tests, coverage, and what was left out."""

from typing import Final

from midwatch.terms.figures import some
from midwatch.terms.jobs import Proof
from midwatch.terms.term import Term
from midwatch.views.text.plain import clean

LONGEST_LINE = 400
PROVEN: Final = {
    "green": "the checks pass on a fresh checkout",
    "still_red": "the checks failed before and are no worse",
    "no_checks": "there are no checks, so nothing is proven",
    "worse": "the checks got worse",
    "red_when_restored": "the checks pass only with the agent's own changes to them",
    "doubted": "the change weakens the checks that should prove it",
    "not_done": "what the orders name as done is not reached",
    "flaky": "the checks are flaky, so they prove little",
}
"""What each verdict of a proof means."""
PROVEN_IN_SHORT: Final = {
    "green": "checks green",
    "still_red": "checks failing, as before",
    "no_checks": "no checks",
    "worse": "checks worse",
    "red_when_restored": "checks not trusted",
    "doubted": "checks not trusted",
    "not_done": "not done yet",
    "flaky": "checks flaky",
}
NEW_TESTS: Final = {
    "fail_on_base": "New tests fail without the change and pass with it.",
    "unclear": "New tests could not be run without the change.",
}
"""What each result of new tests on the base means; tests that pass there too are a doubt."""
NOT_SHOWN: Final = "New tests fail without the change; that they pass with it is not shown, because a check fails."


class ProofLine(Term):
    """One line about a proof; `fine` is None where it is neither good nor bad."""

    text: str
    fine: bool | None = None
    failing: bool = False
    """It says what a check printed about its failure."""


def proof_lines(proof: Proof) -> tuple[ProofLine, ...]:
    """List what a person should know about a proof, what weakens it first."""
    doubts = [ProofLine(text=clean(one.text, LONGEST_LINE), fine=False if one.grave else None) for one in proof.doubts]
    flaky = [ProofLine(text=f"Flaky: {clean(one)} ends differently each time.") for one in proof.flaky]
    return (*failing_lines(proof), *doubts, *flaky, *beside_checks(proof))


def failing_lines(proof: Proof) -> tuple[ProofLine, ...]:
    """Name for each failed check the line that says what failed."""
    runs = {one.command: one for one in (*proof.restored, *proof.delivered) if not one.green and one.failing_line}
    red_before = {one.command for one in proof.before if not one.green}
    return tuple(
        ProofLine(
            text=f"{clean(one.command, 80)} fails: {clean(one.failing_line, LONGEST_LINE)}",
            fine=None if one.command in red_before and proof.verdict == "still_red" else False,
            failing=True,
        )
        for one in runs.values()
    )


def beside_checks(proof: Proof) -> tuple[ProofLine, ...]:
    """List what was seen beside the checks: new tests, coverage, and checks that were left out."""
    lines = []
    if proof.new_tests in NEW_TESTS:
        failed = proof.new_tests == "fail_on_base"
        if failed and any(not one.green for one in proof.delivered):
            lines.append(ProofLine(text=NOT_SHOWN))
        else:
            lines.append(ProofLine(text=NEW_TESTS[proof.new_tests], fine=True if failed else None))
    if found := proof.coverage:
        ran = f"{found.covered} of {some(found.measurable, 'changed line')} that can be measured"
        lines.append(ProofLine(text=f"The checks ran {ran} ({clean(found.by)})."))
    return (*lines, *(ProofLine(text=clean(note, LONGEST_LINE)) for note in proof.notes))
