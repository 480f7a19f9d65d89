"""Jobs that were held up: they failed, wait, resume, or are to stop."""

import sqlalchemy as sa

from midwatch.journal.entry import Entry
from midwatch.journal.events import jobs as ev
from midwatch.store.projectors.jobs import GOING, NOT_OVER, by_epoch, timer_of
from midwatch.store.projectors.rows import (
    box_timer_of,
    change,
    clear_timer,
    failures_with,
    on,
    only_written,
    rested,
    row,
    set_timer,
)
from midwatch.store.schema.tables import jobs
from midwatch.terms.jobs import JobState


@on(ev.JobStumbled)
def job_stumbled(c: sa.Connection, entry: Entry, event: ev.JobStumbled) -> None:
    """It will be tried again."""
    now = row(c, jobs, event.job)
    tried = {"stage": event.stage.value, "attempt": event.attempt, "cause": event.cause, "said": event.error}
    by_epoch(
        c,
        event.job,
        event.epoch,
        event.stage,
        stumbles=now["stumbles"] + 1,
        attempt=event.attempt + 1,
        cause=event.cause,
        failures=failures_with(now, entry.at, **tried, output_blob=event.output_blob),
    )


@on(ev.JobWaits)
def job_waits(c: sa.Connection, entry: Entry, event: ev.JobWaits) -> None:
    """A person or a timer wakes it; a job that is to stop still stops."""
    now = row(c, jobs, event.job)
    failed = event.attempt > now["attempt"]
    tried = {"stage": event.stage.value, "attempt": now["attempt"], "cause": event.cause, "said": event.why}
    by_epoch(
        c,
        event.job,
        event.epoch,
        event.stage,
        attempt=event.attempt,
        cause=event.cause,
        waits=now["waits"] + 1,
        waits_for=event.why,
        wakes_at=event.until,
        stumbles=now["stumbles"] + (1 if failed else 0),
        failures=failures_with(now, entry.at, **tried) if failed else now["failures"],
        **rested(c, now, entry.at),
    )
    change(c, jobs, {"id": event.job, "state": (*GOING, JobState.STOPPING.value)}, state=_waiting(now["state"]))
    if event.until is not None:
        set_timer(c, timer_of(event.job), "job", event.job, event.until)


def _waiting(state: str) -> JobState:
    return JobState.STOPPING if state == JobState.STOPPING.value else JobState.WAITING


@on(ev.JobWoken)
def job_woken(c: sa.Connection, _: Entry, event: ev.JobWoken) -> None:
    """Once; a second wake-up is stale."""
    where = {"id": event.job, "epoch": event.epoch, "stage": event.stage, "state": JobState.WAITING}
    change(c, jobs, where, state=JobState.QUEUED, attempt=event.attempt, waits_for="", wakes_at=None)
    clear_timer(c, timer_of(event.job))


on(ev.PathAllowed)(only_written)


@on(ev.JobGranted)
def job_granted(c: sa.Connection, _: Entry, event: ev.JobGranted) -> None:
    """On top of what was granted before."""
    now = row(c, jobs, event.job)
    change(
        c,
        jobs,
        {"id": event.job, "state": NOT_OVER},
        granted_usd_micros=now["granted_usd_micros"] + event.usd_micros,
        granted_tokens=now["granted_tokens"] + event.tokens,
        granted_requests=now["granted_requests"] + event.requests,
    )


@on(ev.JobStopRequested)
def job_stop_requested(c: sa.Connection, _: Entry, event: ev.JobStopRequested) -> None:
    """This entry wakes its worker."""
    clear_timer(c, timer_of(event.job))
    clear_timer(c, box_timer_of(event.job))
    change(c, jobs, {"id": event.job, "state": NOT_OVER}, state=JobState.STOPPING, why=event.why)


@on(ev.JobBoxOpened)
def box_opened(c: sa.Connection, entry: Entry, event: ev.JobBoxOpened) -> None:
    """A timer ends it, even after a restart."""
    by_epoch(c, event.job, event.epoch, boxes=event.number, box_began_at=entry.at)
    set_timer(c, box_timer_of(event.job), "box", event.job, event.due_at)


@on(ev.JobWarned)
def job_warned(c: sa.Connection, entry: Entry, event: ev.JobWarned) -> None:
    change(c, jobs, {"id": event.job, "box_warned_at": None, "state": GOING}, box_warned_at=entry.at)
    set_timer(c, box_timer_of(event.job), "box", event.job, event.stop_at)


@on(ev.JobBoxed)
def job_boxed(c: sa.Connection, entry: Entry, event: ev.JobBoxed) -> None:
    """The job is to stop; this entry wakes its worker."""
    clear_timer(c, box_timer_of(event.job))
    change(
        c,
        jobs,
        {"id": event.job, "boxed_at": None, "state": GOING},
        state=JobState.STOPPING,
        why=event.why,
        boxed_at=entry.at,
    )
