"""A room for a test: a person's repository, our mirror of it, and an agent's room on its newest commit."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from midwatch.ports.workspace import JobPlace, RoomRequest
from midwatch.workshop.rooms.workplace import Workplace
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.workshop import Workshop

PROJECT, JOB = "prj_1", "job_1"


def spot(*, job: str = JOB, epoch: int = 1) -> JobPlace:
    return JobPlace(project=PROJECT, job=job, epoch=epoch)


def stay(commit: str, *, reads_only: bool = False) -> RoomRequest:
    """What kind of room, with everything said once."""
    return RoomRequest(
        place=spot(),
        commit=commit,
        purpose="execute.1",
        reads_only=reads_only,
        wall=timedelta(minutes=2),
        idle=timedelta(minutes=1),
        grace=timedelta(seconds=2),
    )


def at(asked: RoomRequest, epoch: int) -> RoomRequest:
    """The same, asked for by a later attempt."""
    return replace(asked, place=replace(asked.place, epoch=epoch))


async def benched(home: Path, enclosure: Enclosure, source: Path) -> tuple[Workshop, str]:
    """A workshop that knows one project, and its newest commit."""
    workshop = Workshop(home, enclosure)
    facts = await workshop.mirrors.inspect(source)
    return workshop, await workshop.mirrors.update(PROJECT, source, facts.branch)


async def a_room(workshop: Workshop, asked: RoomRequest) -> Workplace:
    """Enter."""
    return await workshop.rooms.enter(asked)
