"""What a proof is worth: where its checks come from, what they counted, and what weakens them."""

from enum import StrEnum
from typing import Final

from midwatch.terms.term import Term


class CheckSource(StrEnum):
    """Who asked for a check."""

    ORDERS = "orders"
    PROJECT = "project"
    FOUND = "found"
    """Discovered in the checkout, because the project names none."""


class SuiteCount(Term):
    """How many tests a check says it ran."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    expected: int = 0
    """Failed, as the test itself expects."""

    @property
    def ran(self) -> int:
        """Tests that could have failed the check."""
        return self.passed + self.failed


class Doubt(Term):
    """Something about a change that weakens its proof, in plain words."""

    kind: str
    text: str
    path: str = ""
    grave: bool = True
    """Whether the work must not count as green; what the orders allow is only reported."""


class Coverage(Term):
    """How many of the changed lines were covered, by the project's own measurement."""

    covered: int
    measurable: int
    by: str
    """The file that says so."""


class RepairTries(Term):
    """How many repair rounds one failure had: a check command, or the doubts."""

    failure: str
    rounds: int


PROVEN: Final = {
    "green": "the checks pass on a fresh checkout",
    "still_red": "the checks failed before and are no worse",
    "no_checks": "there are no checks, so nothing is proven",
    "worse": "the checks got worse",
    "red_when_restored": "the checks pass only with the agent's own changes to them",
    "doubted": "the change weakens the checks that should prove it",
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
    "flaky": "checks flaky",
}
NEW_TESTS: Final = {
    "fail_on_base": "New tests fail without the change and pass with it.",
    "pass_on_base": "New tests pass without the change too, so they prove nothing.",
    "unclear": "New tests could not be run without the change.",
}
"""What each result of new tests on the base means."""
