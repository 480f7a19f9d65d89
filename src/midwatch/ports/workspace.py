"""The workspace: mirrors, rooms, proofs and upkeep of what jobs leave on disk."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from midwatch.ports.network import RoomNetwork
from midwatch.ports.room import Room
from midwatch.rules.checks.setups import SetupChoice
from midwatch.terms.contract import ToolScope
from midwatch.terms.jobs import Bundle, Change, CheckResult, Proof, RepositoryFacts
from midwatch.terms.trust import Isolation


@dataclass(frozen=True, slots=True)
class JobPlace:
    """Which job of which project, at which attempt; a preflight or a stack uses its own id as the job."""

    project: str
    job: str
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class RoomRequest:
    """The kind of room an agent needs, and for how long."""

    place: JobPlace
    commit: str
    purpose: str
    """With the same purpose, a restart finds the running agent; another purpose starts a new one."""
    wall: timedelta
    idle: timedelta
    grace: timedelta
    counts_work: bool = False
    """While its processes use the processor or wait for it, an agent that prints nothing is not idle."""
    network: RoomNetwork | None = None
    paths: tuple[str, ...] = ()
    sparse_from: int = 1
    """From how many files in a commit only those paths are checked out."""
    reads_only: bool = False
    setup_key: str = ""
    takes_over: str = ""
    """The job whose last checkout of the same work this one resumes; empty for a fresh one."""
    night_left: timedelta | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    room_bytes: int = 1 << 40
    room_files: int = 1 << 40
    floor_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ProofRequest:
    """The work to prove, and the checks to run."""

    place: JobPlace
    base: str
    head: str
    checks: tuple[str, ...]
    wall: timedelta
    """How long each check may take."""
    paths: tuple[str, ...] = ()
    """What the orders let the agent change; check files elsewhere are restored."""
    setup_key: str = ""
    project_checks: tuple[str, ...] = ()
    """The checks that the project names, not the orders."""
    done_when: tuple[str, ...] = ()
    """The commands that pass once the work is done."""
    finds_checks: bool = False
    """Whether to look for checks in the checkout too, because the project names none."""
    reruns: int = 2
    """How often to run a check again that fails, but passes on the base."""
    claims: tuple[str, ...] = ()
    """What the agent said about its work; empty for a stack."""
    earlier: Proof | None = None
    """The result of an earlier round; the base is not checked twice."""
    stop: asyncio.Event | None = None


class Inspector(Protocol):
    """Reads a person's repository."""

    async def inspect(self, path: Path | str) -> RepositoryFacts:
        """Return branch, head and uncommitted files, or what is wrong with the repository."""
        ...


class Mirrors(Inspector, Protocol):
    """Midwatch's own bare copy of each project."""

    async def update(self, project: str, source: str, branch: str, *, job: str = "") -> str:
        """Update the mirror and return the branch's commit; it is kept for a job, even if the branch is deleted."""
        ...

    async def diff(self, project: str, base: str, head: str) -> str:
        """Return a change as a diff."""
        ...

    async def last_subjects(self, project: str, commit: str, most: int) -> tuple[str, ...]:
        """Return the subjects of the last commits up to one, newest first."""
        ...


class MergeTrials(Protocol):
    """Merges commits in the mirror; no branch of a person moves."""

    async def join(self, project: str, onto: str, head: str, message: str) -> tuple[str, tuple[str, ...]]:
        """Merge one commit onto another: return the new commit, or an empty name and the files in conflict."""
        ...

    async def holds(self, project: str, commit: str, within: str) -> bool:
        """Whether one commit's history contains another."""
        ...

    async def keep(self, project: str, stack: str, commit: str) -> None:
        """Keep a stack's last commit under a ref in the mirror."""
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
        """Make a project's setup available; return its fingerprint, whether it was cached, and the seconds."""
        ...

    async def setup_choice(self, project: str, commit: str, named: str, allowed: tuple[str, ...]) -> SetupChoice:
        """Choose the setup of a commit: what a person named, else what its lockfiles ask for.

        `allowed` are the package clients whose registries setups may read.
        """
        ...

    async def enter(self, request: RoomRequest) -> Room:
        """Give an agent a room: the one it has run in since before a restart, or a fresh one."""
        ...

    async def commit_leftovers(self, job: str, epoch: int, message: str) -> bool:
        """Commit the uncommitted files of an agent that has ended; return whether there were any."""
        ...

    async def head_so_far(self, job: str, epoch: int) -> str:
        """Return the commit a clone is at; empty if there is none."""
        ...

    async def commits_so_far(self, job: str, epoch: int, base: str) -> tuple[str, tuple[str, ...]]:
        """Return the commit a clone is at, and the subjects since the base, oldest first."""
        ...

    async def take_over(self, job: str, epoch: int, *, to: str, at: int) -> None:
        """Give a finished job's checkout to another job; repeating it changes nothing."""
        ...

    async def put_away(self, job: str) -> None:
        """Remove the output files of a job's ended agents, once the log has their content."""
        ...

    async def clear_out(self, job: str, grace: timedelta) -> bool:
        """End every program that still runs for a job; return whether there was any."""
        ...

    async def living(self) -> tuple[tuple[str, int], ...]:
        """List the jobs, with their attempts, that have a program running on this machine."""
        ...

    def log(self, job: str, name: str) -> Path:
        """Return the path of a job's log."""
        ...


class Quarantine(Protocol):
    """The only way from an agent's checkout into the mirror."""

    async def bundle(self, place: JobPlace, base: str) -> Bundle:
        """Bundle an agent's commits inside its sandbox; repeating it bundles them again."""
        ...

    async def collect(
        self, place: JobPlace, base: str, bundle: Bundle, scope: ToolScope, do_not_touch: tuple[str, ...]
    ) -> Change:
        """Take a bundle through quarantine into the mirror."""
        ...


class Proofs(Protocol):
    """Runs checks in fresh checkouts."""

    async def prove(self, request: ProofRequest) -> Proof:
        """Run the checks on the base, the work, and the work with the base's check files."""
        ...

    async def baseline(self, request: ProofRequest) -> tuple[CheckResult, ...]:
        """Run the checks on the base alone; also those that prove nothing there are returned."""
        ...

    async def commands(self, request: ProofRequest) -> tuple[str, ...]:
        """Return the checks that would run, those found in the base included; nothing is run."""
        ...

    async def setup_key(self, project: str, commit: str, named: str, allowed: tuple[str, ...]) -> str | None:
        """Return the fingerprint of the setup that a commit needs: empty if it needs none, None if it was not made."""
        ...


@dataclass(frozen=True, slots=True)
class Tidied:
    """One checkout that was removed, or that stays though it was to go."""

    job: str
    why: str
    freed_bytes: int
    failed: bool = False


class Upkeep(Protocol):
    """Removes checkouts that are no longer needed."""

    async def tidy(
        self, *, keep: tuple[str, ...], older_than: timedelta, disk_share: float, now: datetime
    ) -> tuple[Tidied, ...]:
        """Remove old checkouts without work of their own; return those removed, and those that could not be."""
        ...

    async def discard(self, job: str, *, force: bool = False) -> int:
        """Remove a job's checkouts, and return the bytes freed."""
        ...
