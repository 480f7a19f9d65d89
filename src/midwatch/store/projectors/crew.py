"""What model-driven agents do and cost, as rows."""

from datetime import datetime

import sqlalchemy as sa

from midwatch.journal.entry import Entry
from midwatch.journal.events import crew as ev
from midwatch.store.projectors.people import only_written
from midwatch.store.projectors.rows import adjust, change, insert, on, row
from midwatch.store.schema.tables import fuel, jobs, reservations


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


for _kind in (ev.ToolCallDecided, ev.AgentLimited):
    on(_kind)(only_written)
