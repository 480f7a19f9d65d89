"""One plain English line for every entry, as a person reading a log at seven in the morning wants it."""

from typing import assert_never

from midwatch.journal.events import Around, Event
from midwatch.journal.events.crew import CrewEvent
from midwatch.journal.events.house import HouseEvent
from midwatch.journal.events.jobs import JobEvent
from midwatch.journal.events.morning import MorningEvent
from midwatch.journal.events.notices import NoticeEvent
from midwatch.journal.events.people import PeopleEvent
from midwatch.journal.events.preflight import PreflightEvent
from midwatch.journal.events.session import SessionEvent
from midwatch.journal.events.workshop import WorkshopEvent
from midwatch.views.marks import Phase, Tag, phase_of, sse_type, tags_of
from midwatch.views.names import Names
from midwatch.views.plain import clean
from midwatch.views.words import crew, house, jobs, morning, notices, people, preflight, session, workshop

__all__ = ["Phase", "Tag", "describe", "phase_of", "sse_type", "tags_of"]

NOBODY = Names()
LONGEST = 480


def describe(event: Event, names: Names = NOBODY) -> str:
    """Say what happened in one line; with `names` jobs, asks and projects are called by theirs."""
    if isinstance(event, HouseEvent):
        line = house.told(event, names)
    elif isinstance(event, SessionEvent):
        line = session.told(event, names)
    elif isinstance(event, JobEvent):
        line = jobs.told(event, names)
    elif isinstance(event, MorningEvent):
        line = morning.told(event, names)
    else:
        line = _around(event, names)
    return clean(line, LONGEST)


def _around(event: Around, names: Names) -> str:
    """Say what happened around the work: who came, what an agent reached, how somebody was told."""
    if isinstance(event, PeopleEvent):
        return people.told(event)
    if isinstance(event, WorkshopEvent):
        return workshop.told(event, names)
    if isinstance(event, CrewEvent):
        return crew.told(event, names)
    if isinstance(event, NoticeEvent):
        return notices.told(event, names)
    if isinstance(event, PreflightEvent):
        return preflight.told(event)
    assert_never(event)
