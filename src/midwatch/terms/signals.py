"""Words about what an agent tells us while it works, through files outside the repository."""

from enum import StrEnum

from midwatch.terms.term import Term


class SignalKind(StrEnum):
    """What an agent may tell; the file is called so, with .json."""

    NEEDS_INPUT = "needs-input"
    ERROR = "error"
    COMPLETED = "completed"

    @property
    def file(self) -> str:
        """What its file is called."""
        return f"{self.value}.json"


class SignalState(StrEnum):
    """What became of a signal."""

    KEPT = "kept"
    """Nothing has to follow."""
    OPEN = "open"
    """A question that nobody has answered yet."""
    ANSWERED = "answered"
    PASSED = "passed"
    """The agent has the answer."""


SIGNALS = "signals"
"""The folder in an agent's home where it writes them."""
SIGNALS_VARIABLE = "MIDWATCH_SIGNALS"
IN_CHECKOUT = (".midwatch", ".orchestrator")
"""Folders in the checkout where some agents write them all the same; never part of the work."""
ANSWER_FILE = "answer.json"
WARNING_FILE = "warning.json"
"""Says that the agent's time is nearly over."""
FILES = (*(kind.file for kind in SignalKind), ANSWER_FILE, WARNING_FILE)


class Signal(Term):
    """A signal as it was read: an agent's words, and never more than that."""

    kind: SignalKind
    text: str
    """The question, the error or the summary."""
    detail: str = ""
    """The question's context, or more about the error."""
    options: tuple[str, ...] = ()


class Unreadable(Term):
    """A signal that was not taken, and why, in words its writer can use."""

    kind: SignalKind
    why: str


class Claimed(Term):
    """A signal file that was taken out of the agent's reach; its content, or why there is none."""

    number: int
    """Counted within the job."""
    kind: SignalKind
    raw: bytes = b""
    wrong: str = ""
