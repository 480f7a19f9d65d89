"""What the morning needs."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from midwatch.journal.port import Blobs, Journal, Records
from midwatch.settings import Settings
from midwatch.terms.door import Door
from midwatch.terms.jobs import Proof
from midwatch.terms.records import PullRequestRow
from midwatch.terms.roles import Clock, Ids


@dataclass(frozen=True, slots=True)
class Spot:
    """Whose checkouts the checks are run in; for a stack its own, at its how-manieth check run."""

    project: str
    job: str
    epoch: int


@dataclass(frozen=True, slots=True)
class Together:
    """Branches merged into one commit that is to be proven."""

    place: Spot
    base: str
    head: str
    checks: tuple[str, ...]
    reruns: int
    wall: timedelta
    paths: tuple[str, ...]
    setup_key: str
    earlier: Proof | None
    """What an earlier try found: the base is not asked twice."""
    stop: asyncio.Event
    project_checks: tuple[str, ...] = ()
    finds_checks: bool = False
    claims: tuple[str, ...] = ()
    """Nobody claims anything of a stack."""


class Bench(Protocol):
    """The workshop: mirrors and fresh checkouts behind walls."""

    async def refresh(self, project: str, source: str, branch: str) -> str:
        """Bring our mirror up to date and tell the branch's commit."""
        ...

    async def setup_key(self, project: str, commit: str, command: str) -> str:
        """Name the setup that a commit needs, if it was made; nothing otherwise."""
        ...

    async def prove(self, request: Together) -> Proof:
        """Ask fresh checkouts."""
        ...

    async def discard(self, job: str, *, force: bool = False) -> int:
        """Throw checkouts away."""
        ...


class Joiner(Protocol):
    """Merges commits in our mirror, where nobody's ref moves."""

    async def join(self, project: str, onto: str, head: str, message: str) -> tuple[str, tuple[str, ...]]:
        """Merge one commit upon another: the new commit, or nothing and the files in which they conflict."""
        ...

    async def holds(self, project: str, commit: str, within: str) -> bool:
        """Tell whether one commit's history contains another."""
        ...

    async def keep(self, project: str, stack: str, commit: str) -> None:
        """Keep a stack's last commit under a name of our own."""
        ...


@dataclass(frozen=True, slots=True)
class Advance:
    """A person's branch that is to move from one commit to another, in one piece or not at all."""

    project: str
    source: str
    into: str
    stack: str
    old: str
    new: str


class Moved(Protocol):
    """What came of it."""

    @property
    def sha(self) -> str: ...  # noqa: D102
    @property
    def undo(self) -> tuple[str, ...]: ...  # noqa: D102


class Forge(Protocol):
    """A forge on this machine, where a branch moves on a person's word."""

    async def advance(self, asked: Advance) -> Moved:
        """Move a branch forward to a stack's last commit; done already, it changes nothing."""
        ...

    async def take_back(self, asked: Advance) -> None:
        """Move a branch back to where it stood, if it still stands where the stack left it."""
        ...


class Commenter(Protocol):
    """A forge elsewhere, where words can be left at a pull request."""

    async def comment(self, pull_request: PullRequestRow, text: str) -> None:
        """Leave a comment."""
        ...


@dataclass(frozen=True, slots=True)
class Morning:
    """Everyone at the breakfast table."""

    journal: Journal
    records: Records
    blobs: Blobs
    clock: Clock
    ids: Ids
    settings: Callable[[], Settings]
    bench: Bench
    joiner: Joiner
    forge: Forge
    door: Door
    comments: Commenter | None = None
    """Nothing, while every pull request is kept on this machine."""
