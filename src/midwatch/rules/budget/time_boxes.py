"""Time boxes (SPEC 9): when a job that a brain started is warned and stopped, and whether to continue it."""

from datetime import datetime, timedelta
from typing import Final

from midwatch.terms.figures import some
from midwatch.terms.jobs import JobState, Proof
from midwatch.terms.records import JobRow

TIME_LEFT: Final = "commit what you have, then say what is done and what is left"
"""What an agent is asked to do with the rest of its time."""


def due_at(job: JobRow, now: datetime, box: timedelta, extra: timedelta) -> datetime:
    """When a job is to be warned, or stopped if it was warned; what it waited is not counted."""
    whole = box + extra if job.box_warned_at is not None else box
    return now + max(timedelta(0), whole - timedelta(seconds=job.box_seconds))


def used(job: JobRow, now: datetime) -> timedelta:
    running = now - job.box_began_at if job.box_began_at is not None else timedelta(0)
    return timedelta(seconds=job.box_seconds) + max(timedelta(0), running)


def time_left(left: timedelta) -> str:
    """Say to an agent how long it has; at least one minute, because it is still running."""
    return f"Your time is over in about {some(max(1, round(left / timedelta(minutes=1))), 'minute')}: {TIME_LEFT}."


def boxed(job: JobRow) -> bool:
    """Whether a job was stopped because its box was over."""
    return job.state is JobState.STOPPED and job.boxed_at is not None


def progressed(job: JobRow, former: JobRow | None) -> bool:
    """Whether a box produced something: new commits, or fewer red checks than before."""
    base = former.last_head if former is not None and former.last_head else _base(job)
    moved = bool(job.last_head) and job.last_head != base
    before = former.proof if former is not None else None
    return moved or _nearer(before, job.proof)


def _base(job: JobRow) -> str:
    return job.repository.head if job.repository is not None else ""


def _nearer(before: Proof | None, now: Proof | None) -> bool:
    if now is None:
        return False
    known = _red(before) if before is not None else None
    return known is not None and _red(now) < known


def _red(proof: Proof) -> int:
    return sum(max(1, check.failures or 0) for check in proof.delivered if not check.green)
