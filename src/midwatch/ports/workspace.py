"""The workspace: mirrors, rooms, proofs and upkeep of what jobs leave on disk."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from midwatch.ports.network import RoomNetwork
from midwatch.ports.room import Room
from midwatch.terms.contract import ToolScope
from midwatch.terms.jobs import Bundle, Change, Proof, RepositoryFacts
from midwatch.terms.trust import Isolation


@dataclass(frozen=True, slots=True)
class JobPlace:
    """Which job of which project, at which attempt; a preflight or a stack uses its own id as the job."""

    project: str
    job: str
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class RoomRequest:
    """What kind of room an agent needs, and for how long."""

    place: JobPlace
    commit: str
    purpose: str
    """The same purpose after a crash finds the agent at work; any other begins again."""
    wall: timedelta
    idle: timedelta
    grace: timedelta
    network: RoomNetwork | None = None
    paths: tuple[str, ...] = ()
    sparse_from: int = 1
    """How many files a commit must have for a checkout of those paths alone."""
    reads_only: bool = False
    setup_key: str = ""
    takes_over: str = ""
    """The job in whose last checkout of the same work this one resumes; empty for a fresh one."""
    night_left: timedelta | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    room_bytes: int = 1 << 40
    floor_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ProofRequest:
    """What is to be proven, and by which checks."""

    place: JobPlace
    base: str
    head: str
    checks: tuple[str, ...]
    wall: timedelta
    """How long each check may take."""
    paths: tuple[str, ...] = ()
    """What the orders let the agent change; check files outside are restored."""
    setup_key: str = ""
    project_checks: tuple[str, ...] = ()
    """Those of the checks that the project names, not the orders."""
    finds_checks: bool = False
    """Whether checks are looked for in the checkout too, because the project names none."""
    reruns: int = 2
    """How often a check is run again that fails and did not fail on the base."""
    claims: tuple[str, ...] = ()
    """What the agent said of its work; empty for a stack."""
    earlier: Proof | None = None
    """What an earlier round found: the base is not checked twice."""
    stop: asyncio.Event | None = None


class Inspector(Protocol):
    """Looks at a person's repository."""

    async def inspect(self, path: Path | str) -> RepositoryFacts:
        """Return branch, head and what is uncommitted, or what is wrong with it."""
        ...


class Mirrors(Inspector, Protocol):
    """Our own bare copy of each project."""

    async def update(self, project: str, source: str, branch: str) -> str:
        """Bring our mirror up to date and return the branch's commit."""
        ...

    async def pin(self, project: str, job: str, commit: str) -> None:
        """Keep a commit for a job, whatever the person deletes."""
        ...

    async def diff(self, project: str, base: str, head: str) -> str:
        """Show a change as text."""
        ...

    async def last_subjects(self, project: str, commit: str, most: int) -> tuple[str, ...]:
        """Give the subjects of the last commits up to one, newest first."""
        ...


class MergeTrials(Protocol):
    """Merges commits in our mirror; no branch of a person moves."""

    async def join(self, project: str, onto: str, head: str, message: str) -> tuple[str, tuple[str, ...]]:
        """Merge one commit upon another: the new commit, or nothing and the files in which they conflict."""
        ...

    async def holds(self, project: str, commit: str, within: str) -> bool:
        """Whether one commit's history contains another."""
        ...

    async def keep(self, project: str, stack: str, commit: str) -> None:
        """Keep a stack's last commit under a ref of ours."""
        ...


class Rooms(Protocol):
    """The rooms agents work in, their programs, and the checkouts they leave."""

    @property
    def isolation(self) -> Isolation:
        """How strongly rooms are isolated from this machine."""
        ...

    async def set_up(
        self, place: JobPlace, commit: str, command: str, wall: timedelta, network: RoomNetwork, stop: asyncio.Event
    ) -> tuple[str, bool, float]:
        """Have a project's setup ready; return its fingerprint, whether it was there already, and the seconds."""
        ...

    async def enter(self, request: RoomRequest) -> Room:
        """Give an agent a room: the one where it is at work since before a restart, or a fresh one."""
        ...

    async def commit_leftovers(self, job: str, epoch: int, message: str) -> bool:
        """Commit what an agent that has ended left uncommitted; return whether there was anything."""
        ...

    async def head_so_far(self, job: str, epoch: int) -> str:
        """Return the commit a clone is at; empty, while it is at none."""
        ...

    async def commits_so_far(self, job: str, epoch: int, base: str) -> tuple[str, tuple[str, ...]]:
        """Return the commit a clone is at, and the subjects since the base, oldest first."""
        ...

    async def take_over(self, job: str, epoch: int, *, to: str, at: int) -> None:
        """Give another job the checkout of one that is over; done already, it changes nothing."""
        ...

    async def put_away(self, job: str) -> None:
        """Remove what ended agents of a job printed, once their log holds it."""
        ...

    async def clear_out(self, job: str, grace: timedelta) -> bool:
        """End every program that still works for a job; return whether there was any."""
        ...

    async def living(self) -> tuple[tuple[str, int], ...]:
        """List the jobs, with their attempts, for which a program is at work on this machine."""
        ...

    def log(self, job: str, name: str) -> Path:
        """Return the path of a job's log."""
        ...


class Quarantine(Protocol):
    """The only way from an agent's checkout into our mirror."""

    async def bundle(self, place: JobPlace, base: str) -> Bundle:
        """Pack an agent's commits inside its sandbox; repeating it packs them again."""
        ...

    async def collect(
        self, place: JobPlace, base: str, bundle: Bundle, scope: ToolScope, do_not_touch: tuple[str, ...]
    ) -> Change:
        """Take packed work through quarantine into the mirror."""
        ...


class Proofs(Protocol):
    """Checks in fresh checkouts."""

    async def prove(self, request: ProofRequest) -> Proof:
        """Run the checks on the base, the work, and the work with the base's check files."""
        ...

    async def setup_key(self, project: str, commit: str, command: str) -> str:
        """Return the fingerprint of the setup that a commit needs, if it was made; empty otherwise."""
        ...


class Upkeep(Protocol):
    """Removes checkouts that are no longer needed."""

    async def tidy(
        self, *, keep: tuple[str, ...], older_than: timedelta, disk_share: float, now: datetime
    ) -> tuple[tuple[str, str, int], ...]:
        """Remove old checkouts that hold nothing of their own; return the job, the reason and the bytes of each."""
        ...

    async def discard(self, job: str, *, force: bool = False) -> int:
        """Remove a job's checkouts, and return how many bytes that freed."""
        ...
