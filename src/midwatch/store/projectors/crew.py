"""What model-driven agents do and cost, as rows."""

from datetime import datetime

import sqlalchemy as sa

from midwatch.errors import Stale
from midwatch.journal.entry import Entry
from midwatch.journal.events import crew as ev
from midwatch.journal.events import signals as signal_events
from midwatch.journal.events import workshop as workshop_events
from midwatch.store.projectors.jobs import by_epoch
from midwatch.store.projectors.rows import adjust, begin, change, insert, on, only_written, row
from midwatch.store.schema.tables import connections, fuel, jobs, reservations, signals
from midwatch.terms.agents import SignalKind, SignalState


@on(ev.ModelCalled)
def model_called(c: sa.Connection, _: Entry, event: ev.ModelCalled) -> None:
    """Counted in any state of the job; its reservation is released in the same transaction."""
    now = row(c, jobs, event.job)
    change(
        c,
        jobs,
        {"id": event.job},
        usd_micros=now["usd_micros"] + event.usd_micros,
        tokens=now["tokens"] + event.tokens.total,
        requests=now["requests"] + 1,
        model=event.model or now["model"],
    )
    c.execute(reservations.delete().where(reservations.c.id == event.reservation))


@on(ev.AgentBegan)
def agent_began(c: sa.Connection, entry: Entry, event: ev.AgentBegan) -> None:
    """A later attempt resumes the conversation by its name; one without a recorded end counts until now."""
    now = row(c, jobs, event.job)
    ran = _ran(now["agent_began_at"], entry)
    named = {"model": event.model, "conversation": event.conversation}
    change(c, jobs, {"id": event.job}, **named, agent_began_at=entry.at, ran_seconds=now["ran_seconds"] + ran)


@on(ev.AgentEnded)
def agent_ended(c: sa.Connection, entry: Entry, event: ev.AgentEnded) -> None:
    """Its time counts; it may have been given a name only at its end."""
    now = row(c, jobs, event.job)
    ran = _ran(now["agent_began_at"], entry)
    named = event.conversation or now["conversation"]
    change(c, jobs, {"id": event.job}, conversation=named, agent_began_at=None, ran_seconds=now["ran_seconds"] + ran)


def _ran(began: datetime | None, entry: Entry) -> int:
    return max(0, int((entry.at - began).total_seconds())) if began is not None else 0


@on(ev.FuelRead)
def fuel_read(c: sa.Connection, entry: Entry, event: ev.FuelRead) -> None:
    """The newest reading of each limit."""
    name = f"{event.provider}:{event.limit}"
    values = event.model_dump(exclude={"kind"}) | {"read_at": entry.at}
    if c.execute(sa.select(fuel.c.id).where(fuel.c.id == name)).first():
        adjust(c, fuel, {"id": name}, **values)
    else:
        insert(c, fuel, id=name, **values)


@on(ev.ToolCallDecided)
def tool_call_decided(c: sa.Connection, _: Entry, event: ev.ToolCallDecided) -> None:
    """A job that read untrusted text stays tainted, in any state; the call itself has no row."""
    if event.taints:
        adjust(c, jobs, {"id": event.job}, tainted=True)


for _kind in (ev.AgentLimited, workshop_events.ProcessOrphaned, workshop_events.CheckoutRemoved):
    on(_kind)(only_written)


@on(workshop_events.ConnectionSeen)
def connection_seen(c: sa.Connection, entry: Entry, event: workshop_events.ConnectionSeen) -> None:
    """Recorded in any state of the job."""
    begin(c, entry, connections, str(entry.seq), event)


@on(workshop_events.SetupFinished)
def setup_finished(c: sa.Connection, _: Entry, event: workshop_events.SetupFinished) -> None:
    """Every room of the job gets the result."""
    by_epoch(c, event.job, event.epoch, setup_key=event.fingerprint)


@on(signal_events.SignalSeen)
def signal_seen(c: sa.Connection, entry: Entry, event: signal_events.SignalSeen) -> None:
    """A question waits for its answer, even an unreadable one; the rest is only kept."""
    job = _newest(c, event)
    asks = event.says is SignalKind.NEEDS_INPUT
    about = {"session": job["session"], "project": job["project"], "number": event.number}
    begin(c, entry, signals, event.signal, event, **about, state=SignalState.OPEN if asks else SignalState.KEPT)


@on(signal_events.SignalAnswered)
def signal_answered(c: sa.Connection, _: Entry, event: signal_events.SignalAnswered) -> None:
    where = {"id": event.signal, "state": SignalState.OPEN}
    change(c, signals, where, state=SignalState.ANSWERED, answer=event.answer, answered_by=event.by)


@on(signal_events.SignalPassed)
def signal_passed(c: sa.Connection, _: Entry, event: signal_events.SignalPassed) -> None:
    _newest(c, event)
    for name in event.signals:
        change(c, signals, {"id": name, "state": SignalState.ANSWERED}, state=SignalState.PASSED)


@on(signal_events.MilestoneReached)
def milestone_reached(c: sa.Connection, _: Entry, event: signal_events.MilestoneReached) -> None:
    """No row: the entry is enough."""
    _newest(c, event)


def _newest(
    c: sa.Connection, event: signal_events.SignalSeen | signal_events.SignalPassed | signal_events.MilestoneReached
) -> sa.RowMapping:
    """Give the job, unless a newer attempt has it."""
    job = row(c, jobs, event.job)
    if job["epoch"] != event.epoch:
        hint = "Look at the current state and try again."
        raise Stale(f"Epoch {event.epoch} of job {job['number']} is not the newest.", hint=hint)
    return job
