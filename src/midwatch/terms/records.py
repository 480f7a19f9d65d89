"""Midwatch's records as rows: projectors write them, every package may read them."""

from datetime import datetime

from pydantic import JsonValue

from midwatch.terms.acts import Proposal
from midwatch.terms.agents import SignalKind, SignalState
from midwatch.terms.asks import AskKind, AskState, Delivery, DeliveryState, PushState, Silence
from midwatch.terms.contract import RunContract
from midwatch.terms.facts import Facts
from midwatch.terms.forges import PullRequestPlace
from midwatch.terms.jobs import (
    Bundle,
    Change,
    CheckResult,
    Done,
    Failure,
    JobState,
    Plan,
    Proof,
    RepositoryFacts,
    Stage,
)
from midwatch.terms.orders import Orders
from midwatch.terms.people import Role, Scope
from midwatch.terms.preflight import LineState, PreflightPlan, PreflightState, What
from midwatch.terms.projects import Horizon, Project, SessionState, WorkKind, WorkStatus
from midwatch.terms.report import Assumption, Brief, Claim, Evidence, Recommendation
from midwatch.terms.stack import LeftOut, StackState, StackStep, StackVerdict
from midwatch.terms.term import Term
from midwatch.terms.trust import Isolation, Level, Verdict


class ProjectRow(Project):
    """A registered repository."""

    number: int
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
    """A value that applies until it is changed: the level."""

    id: str
    level: Level
    since: datetime


class PersonRow(Term):
    """A person who may log in, or once could."""

    id: str
    number: int
    name: str
    role: Role
    removed: bool
    last_entered_at: datetime | None
    created_at: datetime


class TokenRow(Term):
    """A token; only its bearer has the secret."""

    id: str
    number: int
    person: str
    issued_by: str = ""
    """The name of who made it and saw its secret."""
    name: str
    scopes: tuple[Scope, ...]
    revoked: bool
    expires_at: datetime | None
    created_at: datetime


class SessionRow(Term):
    """A supervised stretch of time."""

    id: str
    number: int
    """A signed night's; 0 for a draft and for a command. Those that older versions recorded kept theirs."""
    state: SessionState
    paused: bool
    why_paused: str
    orders: Orders
    ad_hoc: bool
    """Opened by one command of a person, beside any night (`midwatch code`)."""
    source: str
    level: Level
    signed_by: str
    preflight: str
    """The preflight; empty where there was none."""
    signing_by: str = ""
    """Whose signature waits for the preflight."""
    signing_hash: str = ""
    """The sheet that this person was shown."""
    signing_capped: bool = False
    """Whether it may begin only what an owner granted."""
    unsigned_because: str = ""
    """Why the last signature that waited did not take effect."""
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

    def works(self) -> tuple[frozenset[str], ...]:
        """Return the items of each ordered work: one, or one for each repository it is for."""
        found: dict[int, set[str]] = {}
        groups = self.orders.groups()
        for place, item in enumerate(self.items):
            found.setdefault(groups[place] if place < len(groups) else place, set()).add(item["work_item"])
        return tuple(frozenset(items) for items in found.values())

    @property
    def noun(self) -> str:
        return "command" if self.ad_hoc else "night"

    @property
    def called(self) -> str:
        """Its name where the reader knows which command is meant; `session_named` has its time."""
        return f"Night {self.number}" if self.number and not self.ad_hoc else f"The {self.noun}"


class MessageRow(Term):
    """A message from a person."""

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


class PastAct(Term):
    """An act as cooldowns and spin need it: no facts, no text."""

    id: str
    number: int
    session: str
    round: int
    kind: str
    about: str
    project: str
    state: str
    code: str
    """The code of the deciding reason."""
    result: str
    judged_at: datetime
    ended_at: datetime | None


class ActRow(PastAct):
    """One proposal with its verdict and its result."""

    proposal: Proposal
    facts: Facts
    verdict: Verdict
    text: str
    judged_seq: int


class DeliberationRow(Term):
    """What the council decided about one act."""

    id: str
    session: str
    round: int
    opinions: tuple[dict[str, str], ...]
    decision: str
    created_at: datetime


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
    """A notice for a person."""

    id: str
    session: str
    tier: int
    text: str
    subject: str
    sent_by: str
    """The first place it was recorded: always the log. Its deliveries have the results of the channels."""
    created_at: datetime
    sent_at: datetime | None


class DeliveryRow(Term):
    """A notice on its way to one channel."""

    id: str
    notice: str
    channel: str
    session: str
    tier: int
    delivery: Delivery
    state: DeliveryState
    due_at: datetime
    """When it is due, or when its current sender must have reported a result."""
    attempts: int
    push: str
    """The last message that contained it."""
    error: str
    created_at: datetime
    settled_at: datetime | None


class PushRow(Term):
    """One message to one channel."""

    id: str
    channel: str
    notices: tuple[str, ...]
    day: str
    """In the person's time zone."""
    counts: bool
    note: str
    state: PushState
    error: str
    created_at: datetime
    settled_at: datetime | None


class InvocationRow(Term):
    """An effect that passed through the door."""

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


class TimerRow(Term):
    """A wait: who is woken and when."""

    id: str
    kind: str
    subject: str
    due_at: datetime


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
    by_hand: bool
    """A person types into the agent's own program (A14)."""
    act: str
    retry_of: str
    state: JobState
    stage: Stage
    attempt: int
    epoch: int
    worker: str
    isolation: Isolation
    """The isolation of the last worker that claimed it."""
    repository: RepositoryFacts | None
    plan: Plan | None
    plan_version: int
    plan_hash: str
    plan_wish: str
    """The changes asked of the next plan; empty unless the last one was returned."""
    approved_by: str
    done: Done | None
    work_epoch: int
    """The epoch of the checkout that holds the work."""
    bundle: Bundle | None
    """The agent's commits, as last bundled."""
    change: Change | None
    diff_blob: str
    setup_key: str
    """The id of the project's prepared setup; empty where it has none."""
    proof: Proof | None
    repairs: int
    branch: str
    """The branch the work was delivered on; empty before delivery."""
    stumbles: int
    usd_micros: int
    tokens: int
    requests: int
    model: str
    conversation: str
    """The agent's own id of its session, by which it can resume."""
    tainted: bool
    """It read untrusted text, or continues a job that did."""
    agent_began_at: datetime | None
    """Since when an agent's program has been running; nothing while none is."""
    ran_seconds: int
    """How long agents' programs ran for it, all attempts together."""
    granted_usd_micros: int
    """What a person allowed it to spend beyond its contract."""
    granted_tokens: int
    granted_requests: int
    waits: int
    """How often it has waited for something external."""
    waits_for: str
    """What it waits for now; nothing when it does not wait."""
    wakes_at: datetime | None
    failures: tuple[Failure, ...]
    """Every failed attempt, oldest first."""
    boxes: int
    """Which time box of its work this is; 0 where none was opened, because a person began it."""
    box_seconds: int
    """How much of its box it used before it last waited."""
    box_began_at: datetime | None
    """Since when its box runs; nothing while it waits."""
    box_warned_at: datetime | None
    boxed_at: datetime | None
    """When its box was over and it was asked to stop."""
    output_blob: str
    """Its last output, kept when it failed or was stopped."""
    last_head: str
    """The commit its checkout was at then."""
    why: str
    cause: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class PlanRow(Term):
    """One version of a job's plan, and its outcome."""

    id: str
    job: str
    version: int
    plan: Plan
    plan_hash: str
    wish: str
    """Why the version before was returned."""
    fate: str
    """open, approved, returned, rejected, or none: the job ended another way."""
    by: str
    said: str
    """The comment that came with it."""
    created_at: datetime
    settled_at: datetime | None


class StepRow(Term):
    """One attempt at one stage of one job, or one wait for approval."""

    id: str
    number: int
    """Numbered within the job."""
    job: str
    stage: Stage
    attempt: int
    epoch: int
    worker: str
    state: str
    """running, done, stumbled (failed), waits, lost (another attempt took over), or how the job ended."""
    said: str
    """Why it did not end as done."""
    began_at: datetime
    began_seq: int
    ended_at: datetime | None
    ended_seq: int | None


class ConnectionRow(Term):
    """One connection an agent made or was refused."""

    id: str
    job: str
    epoch: int
    host: str
    port: int
    verdict: str
    why: str
    rule: str
    bytes_out: int
    bytes_in: int
    created_at: datetime


class FuelRow(Term):
    """What a provider last reported as left of one of its limits."""

    id: str
    provider: str
    limit: str
    remaining: float | None
    resets_at: datetime | None
    rejected: bool
    read_at: datetime


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
    url: str
    there: int
    """The forge's number; 0 where it has none."""
    draft: bool
    """Only a draft: its checks stayed red, or its forge is set to open drafts."""
    checks: str
    remarks: tuple[str, ...]
    """What the forge refused, such as a reviewer."""
    seen_at: datetime | None
    """When its forge last reported something new."""
    created_at: datetime
    closed_at: datetime | None

    def place(self, source: str) -> PullRequestPlace:
        """Say where it is, in a form that every forge understands; `source` is the project's repository."""
        return PullRequestPlace(
            source=source,
            project=self.project,
            job=self.job,
            branch=self.branch,
            head=self.head,
            into=self.into,
            number=self.there,
        )


class SignalRow(Term):
    """One signal of one job."""

    id: str
    number: int
    """Numbered within the job."""
    job: str
    session: str
    project: str
    room: int
    """The epoch of the room it was written in."""
    says: SignalKind
    text: str
    detail: str
    options: tuple[str, ...]
    refused: str
    cause: str
    ask: str
    blob: str
    state: SignalState
    answer: str
    answered_by: str
    created_at: datetime


class PreflightRow(Term):
    """One check of everything a night will need."""

    id: str
    session: str
    orders_hash: str
    plan: PreflightPlan
    state: PreflightState
    look: int
    bad: int
    error: str
    asked_by: str
    created_at: datetime
    ended_at: datetime | None


class PreflightLineRow(Term):
    """The result for one project, agent, channel or the machine."""

    id: str
    preflight: str
    what: What
    subject: str
    state: LineState
    text: str
    fix: str
    seconds: float
    commit: str
    created_at: datetime


class EvidenceRow(Evidence):
    """A piece of evidence."""

    run: str
    project: str
    job: str
    retrieved_at: datetime


class ClaimRow(Claim):
    """A claim with its evidence."""

    run: str
    project: str
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


class AssumptionRow(Assumption):
    """An assumption."""

    run: str
    project: str
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
    """The review of one run: pending until the person submits it or its time is over."""

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


class StackRow(Term):
    """Branches of a night that were merged and checked together, for a person to merge as one."""

    id: str
    number: int
    session: str
    project: str
    into: str
    state: StackState
    by: str
    base: str
    tip: str
    order: tuple[StackStep, ...]
    left_out: tuple[LeftOut, ...]
    checks: tuple[CheckResult, ...]
    check_runs: int
    verdict: StackVerdict | None
    why: str
    settled_by: str
    """Who merged it or had its order posted."""
    undo: tuple[str, ...]
    due_at: datetime
    created_at: datetime
    made_at: datetime | None
    settled_at: datetime | None
