"""Rows about the work: missions, runs, jobs, pull requests."""

from datetime import datetime

from pydantic import JsonValue

from midwatch.terms.contract import RunContract
from midwatch.terms.jobs import Bundle, Change, Done, Failure, JobState, Plan, Proof, RepositoryFacts, Stage
from midwatch.terms.term import Term
from midwatch.terms.trust import Isolation


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
