"""The parts of a night as a page shows them: frozen, small, and able to be written down as JSON."""

from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar

from pydantic import Field

from midwatch.terms.asks import AskKind, AskState, Silence
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.projects import SessionState
from midwatch.terms.term import Term
from midwatch.terms.trust import Level
from tests.views.learned_names import LearnedNames


class Seen(Term):
    """Something with an id that changes over the night."""

    id: str


class RunSeen(Seen):
    """A run and its scores."""

    number: int
    status: str = "running"
    score_pre: float | None = None
    score_post: float | None = None


class JobSeen(Seen):
    """One agent at work."""

    number: int
    title: str
    project: str
    agent: str
    retry_of: str = ""
    state: JobState = JobState.QUEUED
    stage: Stage = Stage.MIRROR
    attempts: int = 0
    """How often a worker took it up; recovery makes this larger, and nothing else."""
    stumbles: int = 0
    plan: str = ""
    approved_by: str = ""
    commits: int = 0
    files: int = 0
    insertions: int = 0
    deletions: int = 0
    proof: str = ""
    branch: str = ""
    why: str = ""


class AskSeen(Seen):
    """Something that needs, or needed, a person."""

    number: int
    kind: AskKind
    question: str
    silence: Silence
    due_at: datetime | None = None
    state: AskState = AskState.OPEN
    answer: str = ""
    answered_by: str = ""


class NoticeSeen(Seen):
    """Something we told a person, and how often a channel took it."""

    tier: int
    text: str
    sent: int = 0


class ToolSeen(Seen):
    """An effect that passed the door."""

    tool: str
    job: str
    status: str = "running"


class PullRequestSeen(Seen):
    """Delivered work."""

    number: int
    title: str
    branch: str
    job: str
    state: str = "open"


class CheckInSeen(Term):
    """The night told how it stands."""

    type: str
    text: str
    at: datetime


class LastSeen(Term):
    """The newest entry."""

    seq: int
    at: datetime
    text: str


class NightView(Term):
    """Everything a live page, `midwatch status` and `midwatch watch` show of the newest session."""

    names: LearnedNames = LearnedNames()
    session: str = ""
    number: int = 0
    state: SessionState | None = None
    paused: bool = False
    why_paused: str = ""
    level: Level | None = None
    goals: tuple[str, ...] = ()
    work: tuple[str, ...] = ()
    signed_by: str = ""
    started_at: datetime | None = None
    ends_at: datetime | None = None
    reason: str = ""
    rounds: int = 0
    round_active: bool = False
    next_round_at: datetime | None = None
    """As the last round announced it; an answer or a finished job may call one sooner."""
    decisions: int = 0
    verdicts: dict[str, int] = Field(default_factory=dict)
    """How many acts the gate gave each of its answers."""
    ends: dict[str, int] = Field(default_factory=dict)
    """How many acts came to each end."""
    done: dict[str, int] = Field(default_factory=dict)
    """How many acts of each kind were really done."""
    judged: dict[str, str] = Field(default_factory=dict)
    """Acts that have not ended yet, with their kind."""
    runs: tuple[RunSeen, ...] = ()
    jobs: tuple[JobSeen, ...] = ()
    asks: tuple[AskSeen, ...] = ()
    notices: tuple[NoticeSeen, ...] = ()
    check_ins: tuple[CheckInSeen, ...] = ()
    tools: tuple[ToolSeen, ...] = ()
    pull_requests: tuple[PullRequestSeen, ...] = ()
    messages: int = 0
    evidence: int = 0
    claims: int = 0
    assumptions: int = 0
    artifacts: int = 0
    headline: str = ""
    words: int = 0
    recommendations: tuple[str, ...] = ()
    waiting: int = 0
    """Asks the brief says are open."""
    review: str = ""
    """Empty before the brief; then pending, submitted or timeout."""
    review_due_at: datetime | None = None
    last: LastSeen | None = None

    @property
    def open_asks(self) -> tuple[AskSeen, ...]:
        """What waits for the person now."""
        return tuple(ask for ask in self.asks if ask.state is AskState.OPEN)

    @property
    def notices_by_tier(self) -> dict[int, int]:
        """How much was said, and how loudly."""
        return {tier: sum(one.tier == tier for one in self.notices) for tier in {one.tier for one in self.notices}}


S = TypeVar("S", bound=Seen)


def changed(items: Iterable[S], name: str, **values: object) -> tuple[S, ...]:
    """Change the one with this id; the rest stay."""
    return tuple(one.model_copy(update=values) if one.id == name else one for one in items)


def one_more(counts: dict[str, int], what: str) -> dict[str, int]:
    """Count one more of a kind."""
    return {**counts, what: counts.get(what, 0) + 1}


def altered(view: NightView, **values: object) -> NightView:
    """A view with some of it changed."""
    return view.model_copy(update=values)
