"""The house's records as rows: what the projectors write and everyone may read."""

from datetime import datetime

from pydantic import JsonValue

from midwatch.terms.acts import Proposal
from midwatch.terms.asks import AskKind, AskState, Silence
from midwatch.terms.contract import RunContract
from midwatch.terms.facts import Facts
from midwatch.terms.house import Flag, Horizon, SessionState, WorkKind, WorkStatus
from midwatch.terms.jobs import Change, Done, JobState, Plan, Proof, RepositoryFacts, Stage
from midwatch.terms.orders import Orders
from midwatch.terms.report import Brief, EvidenceKind, Recommendation
from midwatch.terms.term import Term
from midwatch.terms.trust import Level, Verdict


class ProjectRow(Term):
    """A repository the house knows."""

    id: str
    number: int
    name: str
    path: str
    branch: str
    purpose: str
    checks: tuple[str, ...]
    priority: int
    flags: tuple[Flag, ...]
    removed: bool
    created_at: datetime
    updated_at: datetime


class GoalRow(Term):
    """One version of a goal; the newest is current."""

    id: str
    goal: str
    project: str
    horizon: Horizon
    statement: str
    metric: str
    target_date: str
    priority: int
    status: str
    version: int
    current: bool
    created_at: datetime


class WorkRow(Term):
    """A work item."""

    id: str
    number: int
    project: str
    title: str
    type: WorkKind
    status: WorkStatus
    priority: int
    goal_links: tuple[str, ...]
    next_step: str
    owner: str
    created_at: datetime
    updated_at: datetime


class SettingsRow(Term):
    """A proposed, applied or discarded change of settings."""

    id: str
    number: int
    changes: dict[str, JsonValue]
    note: str
    state: str
    version: int | None
    actor: str
    created_at: datetime


class StandingRow(Term):
    """What holds until someone changes it: the level."""

    id: str
    level: Level
    since: datetime


class SessionRow(Term):
    """A supervised stretch of time."""

    id: str
    number: int
    state: SessionState
    paused: bool
    why_paused: str
    orders: Orders
    source: str
    level: Level
    signed_by: str
    items: tuple[dict[str, str], ...]
    repositories: tuple[RepositoryFacts, ...]
    rounds: int
    round_active: bool
    round_wanted: bool
    next_round_at: datetime | None
    decisions: int
    actions: int
    reason: str
    last_check_in_at: datetime | None
    last_moved_at: datetime
    created_at: datetime
    started_at: datetime | None
    ends_at: datetime | None
    debrief_at: datetime | None
    ended_at: datetime | None


class MessageRow(Term):
    """Something a person said."""

    id: str
    session: str
    by: str
    text: str
    created_at: datetime


class CheckInRow(Term):
    """A check-in of the night."""

    id: str
    session: str
    type: str
    trigger: str
    text: str
    created_at: datetime


class RoundRow(Term):
    """One pass of the loop."""

    id: str
    session: str
    number: int
    brain: str
    summary: str
    state: str
    error: str
    created_at: datetime


class ActRow(Term):
    """One proposal, judged, with its end."""

    id: str
    number: int
    session: str
    round: int
    kind: str
    about: str
    project: str
    proposal: Proposal
    facts: Facts
    verdict: Verdict
    state: str
    text: str
    result: str
    judged_seq: int
    judged_at: datetime
    ended_at: datetime | None


class PastAct(Term):
    """An act as cooldowns and spin see it: no facts, no words."""

    id: str
    number: int
    session: str
    round: int
    kind: str
    about: str
    project: str
    state: str
    result: str
    judged_at: datetime
    ended_at: datetime | None


class DeliberationRow(Term):
    """What the council said about one act."""

    id: str
    session: str
    round: int
    opinions: tuple[dict[str, str], ...]
    decision: str
    created_at: datetime


class MissionRow(Term):
    """An ordered piece of work as a mission."""

    id: str
    session: str
    project: str
    title: str
    objective: str
    work_items: tuple[str, ...]
    created_at: datetime


class RunRow(Term):
    """A mission being carried out."""

    id: str
    number: int
    session: str
    mission: str
    project: str
    contract: RunContract
    status: str
    summary: str
    score_pre: float | None
    score_post: float | None
    scores: dict[str, JsonValue]
    started_at: datetime
    ended_at: datetime | None


class JobRow(Term):
    """One agent at work."""

    id: str
    number: int
    session: str
    run: str
    project: str
    work_item: str
    title: str
    agent: str
    act: str
    retry_of: str
    state: JobState
    stage: Stage
    attempt: int
    epoch: int
    worker: str
    repository: RepositoryFacts | None
    plan: Plan | None
    plan_version: int
    plan_hash: str
    approved_by: str
    done: Done | None
    work_epoch: int
    """Whose checkout the work lies in."""
    change: Change | None
    diff_blob: str
    proof: Proof | None
    repairs: int
    stumbles: int
    why: str
    cause: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class PullRequestRow(Term):
    """Delivered work."""

    id: str
    number: int
    job: str
    run: str
    project: str
    branch: str
    base: str
    head: str
    into: str
    title: str
    body: str
    forge: str
    state: str
    merged_sha: str
    undo: tuple[str, ...]
    created_at: datetime
    closed_at: datetime | None


class AskRow(Term):
    """Something that needs a person."""

    id: str
    number: int
    session: str
    kind: AskKind
    question: str
    options: tuple[str, ...]
    recommendation: str
    rationale: str
    priority: int
    silence: Silence
    blocking: bool
    subject: str
    project: str
    shown_hash: str
    state: AskState
    answer: str
    answer_text: str
    answered_by: str
    created_at: datetime
    due_at: datetime | None
    settled_at: datetime | None


class NoticeRow(Term):
    """Something we told a person."""

    id: str
    session: str
    tier: int
    text: str
    subject: str
    sent_by: str
    created_at: datetime
    sent_at: datetime | None


class InvocationRow(Term):
    """An effect that passed the door."""

    id: str
    tool: str
    session: str
    run: str
    job: str
    request: dict[str, JsonValue]
    status: str
    result: dict[str, JsonValue]
    error: str
    started_at: datetime
    ended_at: datetime | None


class EvidenceRow(Term):
    """A piece of evidence."""

    id: str
    run: str
    project: str
    job: str
    kind: EvidenceKind
    citation: str
    origin: str
    excerpt: str
    quality: float
    fresh: bool
    notes: str
    retrieved_at: datetime


class ClaimRow(Term):
    """A claim with what it stands on."""

    id: str
    run: str
    project: str
    text: str
    evidence: tuple[str, ...]
    hypothesis: bool
    strength: str
    created_at: datetime


class ArtifactRow(Term):
    """A durable output."""

    id: str
    run: str
    project: str
    job: str
    type: str
    title: str
    format: str
    blob: str
    summary: str
    created_at: datetime


class AssumptionRow(Term):
    """Something taken for granted."""

    id: str
    run: str
    project: str
    statement: str
    confidence: float
    impact_if_wrong: str
    needs_confirmation: bool
    status: str
    created_at: datetime


class ReportRow(Term):
    """The brief of one night."""

    id: str
    session: str
    brief: Brief
    recommendations: tuple[Recommendation, ...]
    decisions: tuple[str, ...]
    created_at: datetime


class EvaluationRow(Term):
    """The review of one run: pending until the person speaks or time passes."""

    id: str
    run: str
    session: str
    project: str
    capture_status: str
    usefulness: int | None
    trust: int | None
    brevity: int | None
    flags: tuple[str, ...]
    notes: str
    due_at: datetime
    created_at: datetime
    submitted_at: datetime | None


class OutcomeRow(Term):
    """What the person did with a recommendation."""

    id: str
    run: str
    session: str
    outcome: str
    reason: str
    created_at: datetime


class TimerRow(Term):
    """A wait: who is to be woken when."""

    id: str
    kind: str
    subject: str
    due_at: datetime
