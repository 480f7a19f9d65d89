"""Rows about the work: missions, runs, jobs, pull requests."""

from datetime import datetime

from pydantic import JsonValue

from midwatch.terms.contract import RunContract
from midwatch.terms.jobs import Change, Done, JobState, Plan, Proof, RepositoryFacts, Stage
from midwatch.terms.term import Term


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
