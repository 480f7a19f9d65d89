"""A room for a test: a person's repository, our mirror of it, and an agent's room on its newest commit."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from midwatch.workshop.bench import Bench
from midwatch.workshop.rooms.doorman import Doorman
from midwatch.workshop.rooms.workplace import Workplace
from midwatch.workshop.sandbox.enclosure import Enclosure

PROJECT, JOB = "prj_1", "job_1"


@dataclass(frozen=True)
class Spot:
    project: str = PROJECT
    job: str = JOB
    epoch: int = 1


@dataclass(frozen=True)
class Stay:
    """What kind of room, with everything said once."""

    commit: str
    place: Spot = field(default_factory=Spot)
    purpose: str = "execute.1"
    paths: tuple[str, ...] = ()
    sparse_from: int = 1
    reads_only: bool = False
    setup_key: str = ""
    takes_over: str = ""
    wall: timedelta = timedelta(minutes=2)
    idle: timedelta = timedelta(minutes=1)
    grace: timedelta = timedelta(seconds=2)
    night_left: timedelta | None = None
    doorman: Doorman | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    room_bytes: int = 1 << 40
    floor_bytes: int = 0

    def at(self, epoch: int) -> "Stay":
        """The same, asked for by a later attempt."""
        return replace(self, place=replace(self.place, epoch=epoch))


async def benched(home: Path, enclosure: Enclosure, source: Path) -> tuple[Bench, str]:
    """A bench that knows one project, and its newest commit."""
    bench = Bench(home, enclosure)
    facts = await bench.inspect(source)
    return bench, await bench.refresh(PROJECT, source, facts.branch)


async def a_room(bench: Bench, stay: Stay) -> Workplace:
    """Enter."""
    return await bench.room(stay)
