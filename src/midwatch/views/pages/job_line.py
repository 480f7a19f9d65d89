"""One job in a line: its stage, its requests to models, their cost, and how long it may still take."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from pydantic import computed_field

from midwatch.terms.contract import RunContract
from midwatch.terms.figures import dollars, many, some
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.records import JobRow
from midwatch.terms.term import Term
from midwatch.views.text.plain import clean, spaced

PHASES: Final[dict[Stage, str]] = {
    Stage.MIRROR: "the mirror is updated",
    Stage.SETUP: "the project's setup is prepared",
    Stage.PLAN: "planning",
    Stage.APPROVE: "waits for approval",
    Stage.EXECUTE: "at work",
    Stage.BUNDLE: "its work is packed",
    Stage.QUARANTINE: "its work is inspected",
    Stage.VERIFY: "its work is checked",
    Stage.REPAIR: "repairing",
    Stage.DELIVER: "its branch is being pushed",
    Stage.PULL_REQUEST: "its pull request is opened",
    Stage.NOTICE: "notice",
}


HELD: Final = frozenset({"waits", "recovers", "stranded"})
"""Waits for which a person wants to see who answers, and until when."""


class Spent(Term):
    """Requests to models, and their cost."""

    requests: int = 0
    tokens: int = 0
    usd_micros: int = 0

    @property
    def parts(self) -> tuple[str, ...]:
        """Return it in parts; nothing if no model was asked."""
        if not self.requests:
            return ()
        return (some(self.requests, "request"), f"{many(self.tokens)} tokens", dollars(self.usd_micros))


class JobLine(Term):
    """The line in its parts, for surfaces with their own layout; `said` is the full line."""

    phase: str
    model: str = ""
    requests: int = 0
    """To a model. An agent may send several requests in one of its turns."""
    tokens: int = 0
    usd_micros: int = 0
    max_usd_micros: int = 0
    spent: tuple[str, ...] = ()
    waits_for: str = ""
    """What it waits for, as a sentence; empty when it does not wait."""
    wakes_at: datetime | None = None
    ends_at: datetime | None = None
    """When its time, or the night's or command's, is up; nothing while no time is counted."""
    ended_by: str = ""
    """Whose limit that is."""
    minutes_left: int | None = None
    path: str = ""
    """live, queued, waits, recovers, stranded or over."""
    standing: str = ""
    """Its progress, as a sentence: since when it works, or what it waits for and until when."""

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own way, which mypy cannot follow
    @property
    def said(self) -> str:
        held = self.standing if self.path in HELD else ""
        return " · ".join(part for part in (self.phase, *self.spent, self.left, self.waits_for, held) if part)

    @property
    def left(self) -> str:
        """Say how long it may still take at most."""
        if self.minutes_left is None:
            return ""
        return f"up to {self.minutes_left} min left" if self.minutes_left else "under a minute left"


def spent_by(jobs: Iterable[JobRow]) -> Spent:
    """Add up the requests of jobs to models."""
    rows = tuple(jobs)
    return Spent(
        requests=sum(job.requests for job in rows),
        tokens=sum(job.tokens for job in rows),
        usd_micros=sum(job.usd_micros for job in rows),
    )


def job_line(
    job: JobRow,
    now: datetime,
    contract: RunContract | None = None,
    *,
    night_ends_at: datetime | None = None,
    noun: str = "night",
    planning_usd_micros: int | None = None,
) -> JobLine:
    """Describe a job's state; a plan may have a smaller budget than the work."""
    most = _most(job, contract, planning_usd_micros)
    ends_at, ended_by = _end(job, contract, now, [(night_ends_at, f"the {noun}")] if night_ends_at else [])
    left = max(timedelta(0), ends_at - now) // timedelta(minutes=1) if ends_at else None
    return JobLine(
        phase=phase(job),
        model=clean(job.model, 80),
        requests=job.requests,
        tokens=job.tokens,
        usd_micros=job.usd_micros,
        max_usd_micros=most,
        spent=_of_most(spent_by([job]).parts, most),
        waits_for=clean(job.waits_for, 400),
        wakes_at=job.wakes_at,
        ends_at=ends_at,
        ended_by=ended_by,
        minutes_left=left,
    )


def phase(job: JobRow) -> str:
    if job.state.over:
        said = spaced(job.state.value)
        return said if job.state is JobState.DONE else f"{said} at {spaced(job.stage.value)}"
    if job.state is JobState.QUEUED:
        return "waits for its turn"
    if job.state is JobState.STOPPING:
        return "stopping"
    if job.state is JobState.WAITING and job.stage is not Stage.APPROVE:
        return "waits"
    return PHASES[job.stage]


def _of_most(parts: tuple[str, ...], most: int) -> tuple[str, ...]:
    return (*parts[:-1], f"{parts[-1]} of {dollars(most)}") if parts and most else parts


def _most(job: JobRow, contract: RunContract | None, planning: int | None) -> int:
    if contract is None:
        return 0
    most = contract.constraints.max_usd_micros
    own = min(most, planning) if job.stage is Stage.PLAN and planning is not None else most
    return own + job.granted_usd_micros


def _end(
    job: JobRow, contract: RunContract | None, now: datetime, ends: list[tuple[datetime, str]]
) -> tuple[datetime | None, str]:
    """Whichever comes first; a job that waits for a person is not timed; only a running agent uses its own time."""
    if job.state is not JobState.RUNNING:
        return None, ""
    if contract and job.agent_began_at:
        minutes = timedelta(minutes=contract.constraints.max_runtime_minutes)
        ends = [*ends, (job.agent_began_at + minutes - timedelta(seconds=job.ran_seconds), "its time")]
    first = min(ends, default=None)
    return (max(first[0], now), first[1]) if first else (None, "")
