"""Rooms for agents: a private clone and a home inside walls, found again after a restart with the agent in them."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from midwatch.errors import Refused, Unknown
from midwatch.ports.workspace import RoomRequest
from midwatch.terms.trust import Isolation
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.holding import records
from midwatch.workshop.holding.adoption import EndedProgram, adopt
from midwatch.workshop.holding.held import HeldProgram
from midwatch.workshop.holding.nursery import Nursery
from midwatch.workshop.rooms.setup import Made, lend
from midwatch.workshop.sandbox import safe_files
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.walls.entry import place_inside
from midwatch.workshop.sandbox.walls.spec import HOME_INSIDE, SandboxSpec
from midwatch.workshop.upkeep import kept_checkouts
from midwatch.workshop.upkeep.folders import part

NOTE, WALLS, PURPOSE = "errand.json", "walls.json", "purpose"
LARGEST_ANSWER = 16 * 1024**2


@dataclass(frozen=True, slots=True)
class RoomFolder:
    """One attempt's place on disk, and the agent that already works there."""

    job: str
    epoch: int
    """The attempt that made it; older than the asking one if an agent was found running."""
    tree: Path
    home: Path
    folder: Path
    """Where the holder keeps its records, one folder an epoch; the agent cannot reach it."""
    walls: SandboxSpec
    enclosure: Enclosure
    purpose: str
    nursery: Nursery | None = None
    occupant: HeldProgram | EndedProgram | None = None

    @property
    def inside(self) -> Path:
        """Return the path of the tree as seen inside the room."""
        return place_inside(self.walls, self.enclosure.isolation)

    @property
    def home_inside(self) -> Path:
        """Return the path of the home as seen inside the room."""
        return HOME_INSIDE if self.enclosure.isolation is Isolation.BUBBLEWRAP else self.home

    @property
    def has_doors(self) -> bool:
        """Whether the room has its own network, with doors as the only way out."""
        return self.enclosure.isolation is Isolation.BUBBLEWRAP

    @property
    def place(self) -> Path:
        """Return the folder of this attempt's records."""
        return records.epoch_folder(self.folder, self.epoch)

    def put(self, name: str, content: str) -> Path:
        if self.occupant is None:  # a running agent has it already, and may have written over it
            safe_files.write(self.home, name, content.encode(errors="replace"))
        return self.home_inside / name

    def take(self, name: str) -> bytes:
        """Read a file from the home; the agent wrote it, so nothing about it is trusted."""
        content = safe_files.read(self.home, part(name), most=LARGEST_ANSWER)
        if content is None:
            raise Unknown(f"The agent left no {name} that can be read.", hint="Look at the job's log for why.")
        return content


class RoomFolders:
    """Every room under one data folder."""

    def __init__(self, home: Path, checkouts: Checkouts, enclosure: Enclosure, nursery: Nursery | None = None) -> None:
        self._held = home / "held"
        self._nursery = nursery
        self._checkouts = checkouts
        self.enclosure = enclosure

    def held(self, job: str) -> Path:
        """Return the folder of the records of a job's holders."""
        return self._held / part(job)

    def newest(self, job: str) -> int:
        """Return the newest attempt that was begun for a job; 0 where there was none."""
        return next(reversed(records.epochs(self.held(job))), 0)

    async def enter(self, request: RoomRequest, paths: tuple[str, ...], made: Made | None) -> RoomFolder:
        """Return the room where this very task is running or has ended, else a new one with a fresh clone.

        `paths` narrow the clone; `made` is what the project's setup made.
        """
        project, job, epoch = request.place.project, request.place.job, request.place.epoch
        found = await self._occupied(job, request.purpose, epoch)
        whose = epoch if found is None else found[0]
        if found is None and request.takes_over:
            await self._hand_on(request.takes_over, job, epoch, request.purpose)
        if found is None:
            tree = await self._checkouts.private_clone(project, job, epoch, request.commit, paths=paths)
        else:
            tree = self._checkouts.tree(job, whose)
        await asyncio.to_thread(tree.with_name(PURPOSE).write_text, request.purpose)
        # One for all attempts: an agent's memory of a conversation is in its home.
        home = tree.parent.with_name("home")
        await asyncio.to_thread(home.mkdir, exist_ok=True)
        walls = SandboxSpec(
            tree=tree,
            home=home,
            objects=(self._checkouts.mirrors.path(project) / "objects",),
            tree_read_only=request.reads_only,
            limits=self.enclosure.limits,
        )
        if made is not None:
            walls = await asyncio.to_thread(lend, made, walls, self.enclosure)
        return RoomFolder(
            job=job,
            epoch=whose,
            tree=tree,
            home=home,
            folder=self.held(job),
            walls=walls,
            enclosure=self.enclosure,
            purpose=request.purpose,
            nursery=self._nursery,
            occupant=None if found is None else found[1],
        )

    async def _hand_on(self, former: str, job: str, epoch: int, purpose: str) -> None:
        """Move the checkout to the attempt that continues in it; one interrupted here finds it among its own."""
        for whose in dict.fromkeys((job, former)):
            left = await asyncio.to_thread(self._last, whose, purpose)
            if left:
                await self._checkouts.hand_on(whose, left, to=job, at=epoch)
                return

    def _last(self, job: str, purpose: str) -> int:
        """Return the newest checkout of the same work; 0 where there is none."""
        for epoch in reversed(kept_checkouts.epochs(self._checkouts.tree(job, 0).parents[1])):
            written = self._checkouts.tree(job, epoch).with_name(PURPOSE)
            if written.is_file() and same_work(written.read_text(), purpose):
                return epoch
        return 0

    async def _occupied(self, job: str, purpose: str, epoch: int) -> tuple[int, HeldProgram | EndedProgram] | None:
        folder = self.held(job)
        begun = await asyncio.to_thread(records.epochs, folder)
        if not begun or await asyncio.to_thread(purpose_of, records.epoch_folder(folder, begun[-1])) != purpose:
            return None
        found = await adopt(folder, epoch=epoch)
        return (begun[-1], found) if isinstance(found, HeldProgram | EndedProgram) else None


def same_work(one: str, other: str) -> bool:
    """Whether two attempts are at the same stage of the same plan in the same round, whichever try it is."""
    first, second = one.split("."), other.split(".")
    return [first[0], *first[2:4]] == [second[0], *second[2:4]]


def purpose_of(place: Path) -> str:
    """Return what an attempt was begun for; nothing, where that was not recorded."""
    return str(errand_of(place).get("purpose", ""))


def errand_of(place: Path) -> dict[str, object]:
    """Read the record of an attempt, written before it began."""
    try:
        result = json.loads((place / NOTE).read_bytes())
    except (OSError, ValueError):
        return {}
    return result if isinstance(result, dict) else {}


def write_errand(place: Path, about: Mapping[str, object]) -> None:
    """Record what an attempt is for, before it begins: after a crash this is the only source."""
    if records.read_state(place) is not None:
        raise Refused("This attempt has begun already.", hint="Look at the job; a newer attempt may be under way.")
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    (place / NOTE).write_text(json.dumps(dict(about)))
