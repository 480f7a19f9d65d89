"""Words about what a proof is worth: where its checks come from, what they counted, and what speaks against them."""

from enum import StrEnum

from midwatch.terms.term import Term


class CheckSource(StrEnum):
    """Who asked for a check."""

    ORDERS = "orders"
    PROJECT = "project"
    FOUND = "found"
    """Read from what the checkout holds, because nobody named any for the project."""


class Counted(Term):
    """How many tests a check says it ran."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    expected: int = 0
    """Failed as the test itself says it must."""

    @property
    def ran(self) -> int:
        """Tests that could have failed the check."""
        return self.passed + self.failed


class Doubt(Term):
    """Something about a change that takes weight from its proof, in plain words."""

    kind: str
    text: str
    path: str = ""
    grave: bool = True
    """Whether the work must not pass for green; what the orders allow is only told."""


class Coverage(Term):
    """How many of the changed lines the project's own measuring saw run."""

    covered: int
    measurable: int
    by: str
    """Which file said so."""


class Tried(Term):
    """How many repair rounds one failure has had: a check command, or the doubts."""

    failure: str
    rounds: int
