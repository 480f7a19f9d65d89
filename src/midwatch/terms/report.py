"""The morning: evidence, recommendations, the brief, the verdicts."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from midwatch.terms.term import Term


class EvidenceKind(StrEnum):
    """Where a piece of evidence comes from."""

    WEB = "web"
    REPO = "repo"
    DOC = "doc"
    BENCHMARK = "benchmark"
    INTERVIEW_NOTE = "interview_note"
    METRIC_SNAPSHOT = "metric_snapshot"


class Evidence(Term):
    """Something that can be looked up again."""

    id: str
    kind: EvidenceKind
    citation: str
    """A path with line at a commit, a URL, a command with its exit code."""
    origin: str
    """The independent source behind it: two items of one origin support a claim only once."""
    excerpt: str = ""
    quality: float = Field(default=0.3, ge=0, le=1)
    fresh: bool = True
    notes: str = ""


class Claim(Term):
    """A claim, tied to evidence or labelled as hypothesis."""

    id: str
    text: str
    evidence: tuple[str, ...] = ()
    hypothesis: bool = False
    strength: str = "medium"


class ItemOutcome(StrEnum):
    """What became of one ordered item."""

    DELIVERED = "delivered"
    UNNEEDED = "unneeded"
    """Shown and confirmed: nothing had to be done."""
    NOTHING_DELIVERED = "nothing_delivered"
    FAILED = "failed"
    STOPPED = "stopped"
    DECLINED = "declined"
    REFUSED = "refused"
    PROPOSED = "proposed"
    """Only proposed, because the level allowed no more."""
    NOT_STARTED = "not_started"
    WORKING = "working"
    WAITING = "waiting"


ITEM_DONE = frozenset({ItemOutcome.DELIVERED, ItemOutcome.UNNEEDED})


class WorkTally(Term):
    """The ordered works by what became of them; one in several repositories counts once, when all of them are done."""

    ordered: int = 0
    delivered: int = 0
    unneeded: int = 0
    working: int = 0
    waiting: int = 0
    undelivered: int = 0
    """Over, and not done; in a night under way also what has not begun."""
    not_started: int = 0
    """How many of those no job and no verdict has touched."""
    proposed: int = 0
    """How many were only proposed."""
    asked: int = 0
    """Open asks."""
    undecided: int = 0
    """Works that ended undone or in doubt, without an ask about them."""

    @property
    def done(self) -> int:
        return self.delivered + self.unneeded

    @property
    def wanted(self) -> int:
        """How many decisions wait for the person."""
        return self.asked + self.undecided


class Recommendation(Term):
    """A recommendation, ranked, with its tradeoffs and its confidence."""

    id: str
    text: str
    confidence: float = Field(ge=0, le=1)
    tradeoffs: tuple[str, ...] = ()
    ask: str = ""
    """The one thing the person has to do."""
    why: str = ""
    """Reference for the `why this?` answer."""
    evidence: tuple[str, ...] = ()
    hypothesis: bool = False
    run: str = ""
    work_item: str = ""
    became: ItemOutcome | None = None
    """What became of the ordered item; None for a finding beside it."""
    cause: str = ""
    """Why it was not delivered, in words."""
    tried: tuple[str, ...] = ()
    """Each failed try, oldest first."""
    advice: str = ""
    """What the person can do about an item that was not delivered."""


class Assumption(Term):
    """Something that was assumed because no person could be asked."""

    id: str
    statement: str
    confidence: float = Field(ge=0, le=1)
    impact_if_wrong: str = "medium"
    needs_confirmation: bool = True


class Section(Term):
    """One of the nine sections of the brief."""

    title: str
    lines: tuple[str, ...] = ()


class Brief(Term):
    """The brief a person reads first in the morning: at most 400 words."""

    headline: str
    sections: tuple[Section, ...]
    words: int
    cut: int = 0
    """Lines left out to stay inside the limits; the detail view has them."""


class ReviewOutcome(StrEnum):
    """A person's decision on a recommendation."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    MODIFIED = "modified"
    REJECTED = "rejected"
    DEFERRED = "deferred"


class FlagKind(StrEnum):
    """Something that went wrong, as a person reports it."""

    WRONG_FACT = "wrong_fact"
    UNSAFE = "unsafe"


class Given(Term):
    """A person's verdict on one recommendation."""

    recommendation: str
    outcome: ReviewOutcome
    reason: str = ""
    keep_open: bool = False
    """Rejected, and its pull request stays open."""


class AssumptionVerdict(Term):
    """A person's verdict on one assumption."""

    assumption: str
    status: Literal["confirmed", "rejected"]


class Review(Term):
    """The morning's verdicts."""

    usefulness: int = Field(ge=1, le=5)
    trust: int = Field(ge=1, le=5)
    brevity: int = Field(ge=1, le=5)
    outcomes: tuple[Given, ...] = ()
    assumptions: tuple[AssumptionVerdict, ...] = ()
    flags: tuple[FlagKind, ...] = ()
    notes: str = ""


class ScoreParts(Term):
    """The four parts of a score before review; None where there was nothing to measure."""

    alignment: float | None = None
    evidence: float | None = None
    novelty: float | None = None
    readiness: float | None = None
