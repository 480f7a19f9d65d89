"""Entries about time boxes in words."""

from typing import assert_never

from midwatch.journal.events.jobs import BoxEvent, JobBoxed, JobBoxOpened, JobWarned
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean


def told(event: BoxEvent, names: Names) -> str:
    """Describe what happened to a job's time box."""
    called = names.of(event.job, "the job")
    name = called[0].upper() + called[1:]
    match event:
        case JobBoxOpened(number=number):
            text = f"{name}: time box {number} began"
        case JobWarned(minutes=minutes):
            text = f"{name} has worked for {minutes:g} minutes and is warned that its time is nearly over"
        case JobBoxed():
            text = f"{name} is asked to stop: {clean(event.why)}"
        case _:
            assert_never(event)
    return text
