"""The time box of a job: it runs with the job, pauses while the job waits, and stops the job at its end."""

import sqlalchemy as sa

from midwatch.journal.entry import Entry
from midwatch.journal.events import jobs as ev
from midwatch.store.projectors.jobs import GOING, by_epoch
from midwatch.store.projectors.rows import change, clear_timer, on, set_timer
from midwatch.store.projectors.waiting import box_timer_of
from midwatch.store.schema.tables import jobs
from midwatch.terms.jobs import JobState


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
