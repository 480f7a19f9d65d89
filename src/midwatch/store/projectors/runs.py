"""Missions and the runs that carry them out."""

import sqlalchemy as sa

from midwatch.journal.entry import Entry
from midwatch.journal.events import jobs as ev
from midwatch.store.projectors.rows import change, insert, next_number, on
from midwatch.store.schema.tables import missions, runs


@on(ev.MissionCreated)
def mission_created(c: sa.Connection, entry: Entry, event: ev.MissionCreated) -> None:
    """Named after the order it serves."""
    fields = event.model_dump(mode="json", exclude={"kind", "mission"})
    insert(c, missions, **fields, id=event.mission, created_at=entry.at)


@on(ev.RunStarted)
def run_started(c: sa.Connection, entry: Entry, event: ev.RunStarted) -> None:
    """Its contract is frozen with it."""
    insert(
        c,
        runs,
        id=event.run,
        number=next_number(c, runs),
        session=event.session,
        mission=event.mission,
        project=event.project,
        contract=event.contract,
        status="running",
        summary="",
        scores={},
        started_at=entry.at,
    )


@on(ev.RunFinished)
def run_finished(c: sa.Connection, entry: Entry, event: ev.RunFinished) -> None:
    change(
        c,
        runs,
        {"id": event.run, "status": "running"},
        status=event.status,
        summary=event.summary,
        ended_at=entry.at,
    )
