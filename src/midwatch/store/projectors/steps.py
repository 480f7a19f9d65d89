"""Each attempt at a stage as its own row: runs on the events of a job, after the job's projector."""

import sqlalchemy as sa

from midwatch.journal.entry import Entry
from midwatch.journal.events import jobs as ev
from midwatch.store.projectors.rows import adjust, begin
from midwatch.store.schema.tables import steps
from midwatch.terms.jobs import Stage

WENT_WELL = (
    ev.JobMirrored,
    ev.JobPrepared,
    ev.JobApproved,
    ev.JobExecuted,
    ev.JobBundled,
    ev.JobQuarantined,
    ev.JobVerified,
    ev.JobRepaired,
    ev.JobDelivered,
    ev.PullRequestOpened,
)


def keep(c: sa.Connection, entry: Entry) -> None:
    match entry.event:
        case ev.JobClaimed() as event:
            _end(c, entry, event.job, "lost", "Another attempt took over.")
            _begin(c, entry, event)
        case ev.JobPlanned() as event:
            _end(c, entry, event.job, "done")
            _begin(c, entry, event)
        case ev.JobStumbled() as event:
            _end(c, entry, event.job, "stumbled", event.error)
        case ev.JobWaits() as event:
            _end(c, entry, event.job, "waits", event.why)
        case ev.JobEnded() as event:
            _end(c, entry, event.job, event.state, event.why)
        case ev.PlanReturned() as event:
            _end(c, entry, event.job, "returned", event.wish)
        case event if isinstance(event, WENT_WELL):
            _end(c, entry, event.job, "done")
        case _:
            pass


def _begin(c: sa.Connection, entry: Entry, of: ev.JobClaimed | ev.JobPlanned) -> None:
    number = c.execute(sa.select(sa.func.count()).where(steps.c.job == of.job)).scalar_one() + 1
    # A plan that waits for approval is no attempt, but it is a step, and often the longest.
    claimed = {"stage": of.stage, "attempt": of.attempt, "worker": of.worker} if isinstance(of, ev.JobClaimed) else {}
    values = {"stage": Stage.APPROVE, "attempt": 1, "state": "running", "began_at": entry.at, "began_seq": entry.seq}
    begin(c, entry, steps, f"{of.job}.{number}", job=of.job, epoch=of.epoch, number=number, **values | claimed)


def _end(c: sa.Connection, entry: Entry, job: str, state: str, said: str = "") -> None:
    adjust(
        c,
        steps,
        {"job": job, "state": "running"},
        state=state,
        said=said,
        ended_at=entry.at,
        ended_seq=entry.seq,
    )
