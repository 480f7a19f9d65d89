"""What agents tell us while they work, what they are told back, and how far they have come."""

from typing import Literal

from midwatch.journal.events.happening import Happening
from midwatch.terms.signals import SignalKind


class SignalSeen(Happening):
    """An agent wrote a signal; it is out of the agent's folder now, and these are its words."""

    kind: Literal["signal.seen"] = "signal.seen"
    signal: str
    job: str
    epoch: int
    room: int
    """Whose room it was written in; older than the epoch where the agent was at work since before a restart."""
    number: int
    """Counted within the job."""
    says: SignalKind
    text: str
    detail: str = ""
    options: tuple[str, ...] = ()
    refused: str = ""
    """Why it was not taken; then there are no words."""
    cause: str = ""
    """What kind of trouble an error is, by our rules."""
    ask: str = ""
    """The question to a person that it became."""
    blob: str = ""
    """All of the file, where it was taken."""


class SignalAnswered(Happening):
    """A job's question has its answer."""

    kind: Literal["signal.answered"] = "signal.answered"
    signal: str
    job: str
    answer: str
    by: str
    why: str = ""
    """Where the answer stands, where no person was asked."""
    code: str = ""
    """The gate's first reason, where it was asked."""


class SignalPassed(Happening):
    """An agent has the answers to its questions, or was told how much time it has left."""

    kind: Literal["signal.passed"] = "signal.passed"
    job: str
    epoch: int
    signals: tuple[str, ...]
    """What it had asked; nothing where it was only told about its time."""
    how: Literal["turn", "file", "prompt", "call"]
    turn: int = 0
    """After which of its turns it was told so."""
    text: str = ""
    """What was said, word for word."""


class MilestoneReached(Happening):
    """A job came a visible piece further."""

    kind: Literal["milestone.reached"] = "milestone.reached"
    job: str
    epoch: int
    stone: Literal["commits", "planned", "checks", "repair", "pushing", "remark"]
    text: str
    commits: int = 0
    """How many there are since the work began."""
    head: str = ""


SignalEvent = SignalSeen | SignalAnswered | SignalPassed | MilestoneReached
