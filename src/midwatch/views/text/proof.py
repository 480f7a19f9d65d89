"""What a proof says beside its checks: doubts, new tests, coverage, and what was left out."""

from midwatch.terms.jobs import NEW_TESTS, Proof
from midwatch.terms.money import some
from midwatch.terms.term import Term
from midwatch.views.text.plain import clean

MOST_WORDS = 400


class ProofLine(Term):
    """One line about a proof; `fine` is None where it is neither good nor bad."""

    text: str
    fine: bool | None = None


def told(proof: Proof) -> tuple[ProofLine, ...]:
    """List what a person should know about a proof, what weakens it first."""
    lines = [ProofLine(text=clean(one.text, MOST_WORDS), fine=False if one.grave else None) for one in proof.doubts]
    lines += [ProofLine(text=f"Flaky: {clean(one)} ends differently each time.") for one in proof.flaky]
    if proof.new_tests in NEW_TESTS and proof.new_tests != "pass_on_base":  # that one is a doubt already
        lines.append(
            ProofLine(text=NEW_TESTS[proof.new_tests], fine=True if proof.new_tests == "fail_on_base" else None)
        )
    if proof.coverage:
        measured = some(proof.coverage.measurable, "changed line")
        lines.append(ProofLine(text=f"The checks ran {proof.coverage.covered} of {measured} that can be measured."))
    return (*lines, *(ProofLine(text=clean(note, MOST_WORDS)) for note in proof.notes))
