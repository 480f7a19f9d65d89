"""All events as one tagged union."""

from typing import Annotated

from pydantic import Field, TypeAdapter

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

Event = (
    ProjectEvent
    | SessionEvent
    | JobEvent
    | MorningEvent
    | PeopleEvent
    | WorkshopEvent
    | CrewEvent
    | NoticeEvent
    | BoxEvent
    | SignalEvent
    | PreflightEvent
)

TaggedEvent: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])
"""Reads an event by its tag. `Event` itself stays a plain union so that `match` can be exhaustive."""
