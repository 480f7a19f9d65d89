"""What the night needs from the world, as roles; compose decides who plays them."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from midwatch.journal.port import Blobs, Journal, Records
from midwatch.night.forges import Forges
from midwatch.night.rooms import Assignment, Doorkeeping, Doorman, Lodging, Place, Room
from midwatch.settings import Settings
from midwatch.terms.agents import ModelAccess
from midwatch.terms.contract import ToolScope
from midwatch.terms.door import Door
from midwatch.terms.jobs import Bundle, Change, Done, Plan, Proof, RepositoryFacts
from midwatch.terms.records import NoticeRow
from midwatch.terms.roles import Clock, Ids
from midwatch.terms.sense import Answer, Sense
from midwatch.terms.trust import Isolation


class Brain(Protocol):
    """Proposes; never acts."""

    name: str

    async def propose(self, sense: Sense) -> Answer:
        """Say what should happen next."""
        ...


class Agent(Protocol):
    """Plans and works in its own checkout."""

    amends: bool
    """Whether it can plan anew by what a person says of its plan."""

    async def plan(self, assignment: Assignment) -> Plan:
        """Look, and say what would be done; nothing is written."""
        ...

    async def execute(self, assignment: Assignment, plan: Plan) -> Done:
        """Carry the approved plan out and commit it."""
        ...

    async def repair(self, assignment: Assignment, base: str, failure: str) -> Done:
        """Mend what the checks found."""
        ...


class Bench(Protocol):
    """The workshop: mirrors, private clones, quarantine, fresh checkouts."""

    async def inspect(self, path: Path | str) -> RepositoryFacts:
        """Look at a person's repository."""
        ...

    async def refresh(self, project: str, source: str, branch: str) -> str:
        """Bring our mirror up to date and tell the branch's commit."""
        ...

    async def pin(self, project: str, job: str, commit: str) -> None:
        """Keep a commit for a job, whatever the person deletes."""
        ...

    @property
    def isolation(self) -> Isolation:
        """How strongly rooms are kept apart from this machine."""
        ...

    async def set_up(
        self, place: Place, commit: str, command: str, wall: timedelta, doorman: Doorman, stop: asyncio.Event
    ) -> tuple[str, bool, float]:
        """Have a project's setup ready; tell its fingerprint, whether it was there already, and the seconds."""
        ...

    async def room(self, lodging: Lodging) -> Room:
        """Give an agent a room: the one where it is at work since before a restart, or a fresh one."""
        ...

    async def last_subjects(self, project: str, commit: str, most: int) -> tuple[str, ...]:
        """Give the subjects of the last commits up to one, newest first."""
        ...

    async def commit_leftovers(self, job: str, epoch: int, message: str) -> bool:
        """Commit what an agent that has ended left lying in its checkout; tell whether there was anything."""
        ...

    async def head_so_far(self, job: str, epoch: int) -> str:
        """Tell the commit a clone is at; nothing, while it is at none."""
        ...

    async def commits_so_far(self, job: str, epoch: int, base: str) -> tuple[str, tuple[str, ...]]:
        """Tell the commit a clone is at, and the subjects since the base, oldest first."""
        ...

    async def take_over(self, job: str, epoch: int, *, to: str, at: int) -> None:
        """Give another job the checkout of one that is over; done already, it changes nothing."""
        ...

    async def put_away(self, job: str) -> None:
        """Forget what ended agents of a job said, once their log holds it."""
        ...

    async def clear_out(self, job: str, grace: timedelta) -> bool:
        """End whatever still works for a job; tell whether there was anything."""
        ...

    async def bundle(self, place: Place, base: str) -> Bundle:
        """Pack an agent's commits inside its walls; the same again packs them anew."""
        ...

    async def collect(
        self, place: Place, base: str, bundle: Bundle, scope: ToolScope, do_not_touch: tuple[str, ...]
    ) -> Change:
        """Take packed work through quarantine into the mirror."""
        ...

    async def diff(self, project: str, base: str, head: str) -> str:
        """Show a change as text."""
        ...

    async def prove(self, request: "ProofRequest") -> Proof:
        """Ask fresh checkouts."""
        ...

    async def living(self) -> tuple[tuple[str, int], ...]:
        """List the jobs, with their attempts, for which something is at work on this machine."""
        ...

    async def tidy(
        self, *, keep: tuple[str, ...], older_than: timedelta, disk_share: float, now: datetime
    ) -> tuple[tuple[str, str, int], ...]:
        """Remove old checkouts that hold nothing of their own; tell of each whose, why and how many bytes."""
        ...

    async def discard(self, job: str, *, force: bool = False) -> int:
        """Throw a job's checkouts away, and tell how many bytes that freed."""
        ...

    def log(self, job: str, name: str) -> Path:
        """Tell where a job's log lies."""
        ...


@dataclass(frozen=True, slots=True)
class ProofRequest:
    """What is to be proven."""

    place: Place
    base: str
    head: str
    checks: tuple[str, ...]
    project_checks: tuple[str, ...]
    """Those of the checks that the project names, not the orders."""
    finds_checks: bool
    reruns: int
    claims: tuple[str, ...]
    """What the agent said of its work."""
    wall: timedelta
    paths: tuple[str, ...]
    setup_key: str
    earlier: Proof | None
    """What an earlier round found: the base is not asked twice."""
    stop: asyncio.Event


class Channel(Protocol):
    """Where every notice goes first: the log."""

    name: str

    async def send(self, notice: NoticeRow) -> None:
        """Hand the notice over, once."""
        ...


class Outlet(Protocol):
    """Reaches the person wherever they are, by the channels that the settings name."""

    async def push(self, channel: str, title: str, text: str) -> None:
        """Hand one message over, or raise what kept it from going."""
        ...


class Machine(Protocol):
    """The computer we stand on."""

    def free_memory(self) -> int:
        """Bytes."""
        ...

    def free_disk(self) -> int:
        """Bytes where the data folder is."""
        ...

    def isolation(self) -> Isolation:
        """How strongly jobs can be kept apart here."""
        ...


class Bells:
    """Wakes the one who works on a job, in this process, when somebody wants it to stop."""

    def __init__(self) -> None:
        self._bells: dict[str, asyncio.Event] = {}

    def of(self, job: str) -> asyncio.Event:
        """The job's own bell."""
        return self._bells.setdefault(job, asyncio.Event())

    def ring(self, job: str) -> None:
        """Wake whoever waits."""
        if job in self._bells:
            self._bells[job].set()

    def hangs(self, job: str) -> bool:
        """Whether somebody in this process works on a job."""
        return job in self._bells

    def put_away(self, job: str, bell: asyncio.Event) -> None:
        """This attempt is over; another's bell stays."""
        if self._bells.get(job) is bell:
            self._bells.pop(job)


@dataclass(frozen=True, slots=True)
class Night:
    """Everyone on watch."""

    journal: Journal
    records: Records
    blobs: Blobs
    clock: Clock
    ids: Ids
    settings: Callable[[], Settings]
    brain: Brain
    agents: dict[str, Agent]
    bench: Bench
    forges: Forges
    channel: Channel
    outlet: Outlet
    machine: Machine
    door: Door
    doorkeeping: Doorkeeping
    models: Mapping[str, ModelAccess]
    """Which model each model-driven agent asks."""
    worker: str
    bells: Bells = field(default_factory=Bells)
