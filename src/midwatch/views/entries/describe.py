"""One plain English line for every entry."""

from typing import assert_never

from midwatch.journal.events import Event
from midwatch.journal.events.crew import CrewEvent
from midwatch.journal.events.jobs import BoxEvent, JobEvent
from midwatch.journal.events.morning import MorningEvent
from midwatch.journal.events.notices import NoticeEvent
from midwatch.journal.events.people import PeopleEvent
from midwatch.journal.events.preflight import PreflightEvent
from midwatch.journal.events.projects import ProjectEvent
from midwatch.journal.events.session import SessionEvent
from midwatch.journal.events.signals import SignalEvent
from midwatch.journal.events.workshop import WorkshopEvent
from midwatch.views.entries.tags import Phase, Tag, phase_of, sse_type, tags_of
from midwatch.views.entries.words import (
    crew,
    house,
    jobs,
    morning,
    session,
)
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean

__all__ = ["Phase", "Tag", "describe", "phase_of", "sse_type", "tags_of"]

NO_NAMES = Names()
LONGEST = 480


def describe(event: Event, names: Names = NO_NAMES) -> str:
    """Describe an event in one line; with `names`, jobs, asks and projects get their names."""
    if isinstance(event, ProjectEvent):
        line = house.sentence(event, names)
    elif isinstance(event, SessionEvent):
        line = session.sentence(event, names)
    elif isinstance(event, MorningEvent):
        line = morning.sentence(event, names)
    elif isinstance(event, JobEvent | WorkshopEvent | CrewEvent | SignalEvent):
        line = _of_work(event, names)
    else:
        line = _around(event, names)
    return clean(line, LONGEST)


def _of_work(event: JobEvent | WorkshopEvent | CrewEvent | SignalEvent, names: Names) -> str:
    """Describe what happened to the work, and what an agent did, reached and reported."""
    if isinstance(event, JobEvent):
        return jobs.sentence(event, names)
    if isinstance(event, WorkshopEvent):
        return crew.workshop_sentence(event, names)
    if isinstance(event, CrewEvent):
        return crew.sentence(event, names)
    if isinstance(event, SignalEvent):
        return crew.signal_sentence(event, names)
    assert_never(event)


def _around(event: PeopleEvent | NoticeEvent | BoxEvent | PreflightEvent, names: Names) -> str:
    """Describe what happened around the work: logins, time boxes, notices, setup."""
    if isinstance(event, PeopleEvent):
        return house.person_sentence(event)
    if isinstance(event, BoxEvent):
        return jobs.box_sentence(event, names)
    if isinstance(event, NoticeEvent):
        return session.notice_sentence(event, names)
    if isinstance(event, PreflightEvent):
        return house.preflight_sentence(event)
    assert_never(event)
