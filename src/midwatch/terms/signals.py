"""The signals an agent sends while it works, as files outside the repository."""

from enum import StrEnum

from midwatch.terms.term import Term


class SignalKind(StrEnum):
    """The kinds of signals; the file has this name, with .json."""

    NEEDS_INPUT = "needs-input"
    ERROR = "error"
    COMPLETED = "completed"

    @property
    def file(self) -> str:
        return f"{self.value}.json"


class SignalState(StrEnum):
    """How a signal was handled."""

    KEPT = "kept"
    """Nothing needs to follow."""
    OPEN = "open"
    """A question without an answer so far."""
    ANSWERED = "answered"
    PASSED = "passed"
    """The agent has received the answer."""


SIGNALS = "signals"
"""The folder in an agent's home where it writes them."""
SIGNALS_VARIABLE = "MIDWATCH_SIGNALS"
IN_CHECKOUT = (".midwatch", ".orchestrator")
"""Folders in the checkout where some agents write them anyway; never part of the work."""
ANSWER_FILE = "answer.json"
WARNING_FILE = "warning.json"
"""Says that the agent's time is nearly over."""
FILES = (*(kind.file for kind in SignalKind), ANSWER_FILE, WARNING_FILE)


class Signal(Term):
    """A signal as it was read: an agent's text, never an instruction."""

    kind: SignalKind
    text: str
    """The question, the error or the summary."""
    detail: str = ""
    """The question's context, or more about the error."""
    options: tuple[str, ...] = ()


class Unreadable(Term):
    """A signal that was refused, and why, in words the agent can use."""

    kind: SignalKind
    why: str


class Claimed(Term):
    """A signal file that was moved out of the agent's reach; its content, or why there is none."""

    number: int
    """Numbered within the job."""
    kind: SignalKind
    raw: bytes = b""
    wrong: str = ""
