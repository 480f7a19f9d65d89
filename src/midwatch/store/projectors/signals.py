"""Agents' signals as rows: a question is open, then answered, then known to the agent."""

import sqlalchemy as sa

from midwatch.errors import Stale
from midwatch.journal.entry import Entry
from midwatch.journal.events import signals as ev
from midwatch.store.projectors.rows import change, insert, on, row
from midwatch.store.schema.tables import jobs, signals
from midwatch.terms.signals import SignalKind, SignalState


@on(ev.SignalSeen)
def signal_seen(c: sa.Connection, entry: Entry, event: ev.SignalSeen) -> None:
    """A question waits for its answer, even an unreadable one; the rest is only kept."""
    job = _newest(c, event)
    asks = event.says is SignalKind.NEEDS_INPUT
    insert(
        c,
        signals,
        **event.model_dump(mode="json", exclude={"kind", "signal", "epoch"}),
        id=event.signal,
        session=job["session"],
        project=job["project"],
        state=SignalState.OPEN if asks else SignalState.KEPT,
        answer="",
        answered_by="",
        created_at=entry.at,
    )


@on(ev.SignalAnswered)
def signal_answered(c: sa.Connection, _: Entry, event: ev.SignalAnswered) -> None:
    where = {"id": event.signal, "state": SignalState.OPEN}
    change(c, signals, where, state=SignalState.ANSWERED, answer=event.answer, answered_by=event.by)


@on(ev.SignalPassed)
def signal_passed(c: sa.Connection, _: Entry, event: ev.SignalPassed) -> None:
    _newest(c, event)
    for name in event.signals:
        change(c, signals, {"id": name, "state": SignalState.ANSWERED}, state=SignalState.PASSED)


@on(ev.MilestoneReached)
def milestone_reached(c: sa.Connection, _: Entry, event: ev.MilestoneReached) -> None:
    """No row: the entry is enough."""
    _newest(c, event)


def _newest(c: sa.Connection, event: ev.SignalSeen | ev.SignalPassed | ev.MilestoneReached) -> sa.RowMapping:
    """Give the job, unless a newer attempt has it."""
    job = row(c, jobs, event.job)
    if job["epoch"] != event.epoch:
        hint = "Look at the current state and try again."
        raise Stale(f"Epoch {event.epoch} of job {job['number']} is not the newest.", hint=hint)
    return job
