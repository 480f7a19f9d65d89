"""Preflights, their lines, and how they ended."""

import sqlalchemy as sa

from midwatch.errors import Stale
from midwatch.journal.entry import Entry
from midwatch.journal.events import preflight as ev
from midwatch.store.projectors.rows import adjust, begin, change, on, row
from midwatch.store.schema.tables import preflight_lines, preflights
from midwatch.terms.preflight import LineState, PreflightState


@on(ev.PreflightBegun)
def preflight_begun(c: sa.Connection, entry: Entry, event: ev.PreflightBegun) -> None:
    """A night has one that counts: the newest."""
    if event.session:
        earlier = {"session": event.session, "state": PreflightState.RUNNING}
        adjust(c, preflights, earlier, state=PreflightState.REPLACED, ended_at=entry.at)
    begin(c, entry, preflights, event.preflight, event, state=PreflightState.RUNNING, asked_by=entry.actor)


@on(ev.PreflightChecked)
def preflight_checked(c: sa.Connection, entry: Entry, event: ev.PreflightChecked) -> None:
    """Each finding is recorded once, and only while the preflight runs."""
    found = row(c, preflights, event.preflight)
    if found["state"] != PreflightState.RUNNING.value:
        raise Stale("This preflight is over.", hint="Look at the newest one.")
    begin(c, entry, preflight_lines, f"{event.preflight}.{event.what}.{event.subject}", event)
    look, bad = (found[state.value] + (event.state is state) for state in (LineState.LOOK, LineState.BAD))
    change(c, preflights, {"id": event.preflight}, look=look, bad=bad)


@on(ev.PreflightEnded)
def preflight_ended(c: sa.Connection, entry: Entry, event: ev.PreflightEnded) -> None:
    """Its result is final."""
    running = {"id": event.preflight, "state": PreflightState.RUNNING}
    change(c, preflights, running, state=PreflightState.ENDED, error=event.error, ended_at=entry.at)
