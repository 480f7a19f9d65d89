"""Signals from agents, their answers, and milestones."""

from typing import Literal

from midwatch.journal.events.happening import Happening, JobHappening
from midwatch.terms.agents import SignalKind


class SignalSeen(Happening):
    """An agent wrote a signal; the file was moved out of the agent's reach and read."""

    kind: Literal["signal.seen"] = "signal.seen"
    signal: str
    job: str
    epoch: int
    room: int
    """The epoch whose sandbox it was written in; older than `epoch` if the agent has run since before a restart."""
    number: int
    """Its number within the job."""
    says: SignalKind
    text: str
    detail: str = ""
    options: tuple[str, ...] = ()
    refused: str = ""
    """Why it was refused; then the other fields are empty."""
    cause: str = ""
    """The failure class of an error, by our rules."""
    ask: str = ""
    """The ask it became."""
    blob: str = ""
    """The whole file, if it was accepted."""


class SignalAnswered(Happening):
    """An agent's question was answered."""

    kind: Literal["signal.answered"] = "signal.answered"
    signal: str
    job: str
    answer: str
    by: str
    why: str = ""
    """Where the answer was found, if no person was asked."""
    code: str = ""
    """The gate's first reason, if it was asked."""


class SignalPassed(JobHappening):
    """An agent received answers, or a warning about its time."""

    kind: Literal["signal.passed"] = "signal.passed"
    signals: tuple[str, ...]
    """The questions answered; empty for a warning about time."""
    how: Literal["turn", "file", "prompt", "call"]
    turn: int = 0
    """The turn after which it was delivered."""
    text: str = ""
    """The delivered text."""


class MilestoneReached(JobHappening):
    """A job made visible progress."""

    kind: Literal["milestone.reached"] = "milestone.reached"
    stone: Literal["commits", "planned", "checks", "repair", "pushing", "remark"]
    text: str
    commits: int = 0
    """Commits since the work began."""
    head: str = ""


SignalEvent = SignalSeen | SignalAnswered | SignalPassed | MilestoneReached
