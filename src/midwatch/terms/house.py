"""Words about projects, their goals and the work on them."""

from enum import StrEnum

from midwatch.terms.term import Term


class Horizon(StrEnum):
    """How far away a goal lies."""

    SHORT = "short"
    MEDIUM = "medium"
    LONG = "long"


class WorkStatus(StrEnum):
    """Where a work item stands."""

    BACKLOG = "backlog"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    DONE = "done"


class WorkKind(StrEnum):
    """What sort of work it is."""

    BUG = "bug"
    FEATURE = "feature"
    RESEARCH = "research"
    TECH_DEBT = "tech_debt"
    OPS = "ops"


class SessionState(StrEnum):
    """The stations of a supervised session."""

    BRIEFING = "briefing"
    AUTONOMOUS = "autonomous"
    DEBRIEF = "debrief"
    ENDED = "ended"


class Flag(StrEnum):
    """What a person pinned on a project."""

    PROTECTED = "protected"
    BLOCKED = "blocked"
    SKIPPED = "skipped"


class Project(Term):
    """A repository the house knows."""

    id: str
    name: str
    path: str
    branch: str
    purpose: str = ""
    checks: tuple[str, ...] = ()
    setup: str = ""
    """One command that makes a checkout ready, such as installing what it needs; run once per set of lockfiles."""
    priority: int = 3
    flags: tuple[Flag, ...] = ()
    forge: str = ""
    """Where its pull requests are opened; nothing at all means where its address says."""
