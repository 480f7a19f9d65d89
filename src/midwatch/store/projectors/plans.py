"""Plans: every version is kept, with each person's answer."""

import sqlalchemy as sa

from midwatch.journal.entry import Entry
from midwatch.journal.events import jobs as ev
from midwatch.store.projectors.jobs import GOING, by_epoch
from midwatch.store.projectors.rows import adjust, begin, change, on, rested, row
from midwatch.store.schema.tables import jobs, plans
from midwatch.terms.jobs import JobState, Stage


@on(ev.JobPlanned)
def job_planned(c: sa.Connection, entry: Entry, event: ev.JobPlanned) -> None:
    """It waits for approval."""
    name, wish = f"{event.job}.{event.version}", row(c, jobs, event.job)["plan_wish"]
    begin(c, entry, plans, name, event, wish=wish, fate="open")
    by_epoch(
        c,
        event.job,
        event.epoch,
        Stage.PLAN,
        **rested(c, row(c, jobs, event.job), entry.at),
        plan=event.plan,
        plan_version=event.version,
        plan_hash=event.plan_hash,
        plan_wish="",
        stage=Stage.APPROVE,
        attempt=1,
    )
    change(c, jobs, {"id": event.job, "state": GOING}, state=JobState.WAITING)


@on(ev.PlanReturned)
def plan_returned(c: sa.Connection, entry: Entry, event: ev.PlanReturned) -> None:
    """Bound to the hash of what was shown; the agent plans again."""
    change(
        c,
        jobs,
        {"id": event.job, "stage": Stage.APPROVE, "plan_hash": event.plan_hash, "state": JobState.WAITING},
        plan_wish=event.wish,
        stage=Stage.PLAN,
        state=JobState.QUEUED,
        attempt=1,
    )
    settle(c, entry, event.job, "returned", event.by, event.wish)


@on(ev.JobApproved)
def job_approved(c: sa.Connection, entry: Entry, event: ev.JobApproved) -> None:
    """Bound to the hash of what was shown."""
    change(
        c,
        jobs,
        {"id": event.job, "stage": Stage.APPROVE, "plan_hash": event.plan_hash, "state": JobState.WAITING},
        approved_by=event.by,
        stage=Stage.EXECUTE,
        state=JobState.QUEUED,
        attempt=1,
    )
    settle(c, entry, event.job, "approved", event.by)


def settle(c: sa.Connection, entry: Entry, job: str, fate: str, by: str = "", said: str = "") -> None:
    """Record how the open version ended; a job that ended earlier or later has none."""
    adjust(c, plans, {"job": job, "fate": "open"}, fate=fate, by=by, said=said, settled_at=entry.at)
