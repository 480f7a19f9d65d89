"""The workshop as one place: what a job needs from mirrors, clones, quarantine and checks."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from midwatch.errors import MidwatchError
from midwatch.terms.contract import ToolScope
from midwatch.terms.jobs import Change, CheckResult, Proof, RepositoryFacts
from midwatch.workshop.checkouts import Checkouts
from midwatch.workshop.checks import CheckPlan, Work, prove
from midwatch.workshop.mirrors import Mirrors
from midwatch.workshop.quarantine import Delivery, admit


class Spot(Protocol):
    """Which job, of which project, at which attempt."""

    @property
    def project(self) -> str: ...  # noqa: D102
    @property
    def job(self) -> str: ...  # noqa: D102
    @property
    def epoch(self) -> int: ...  # noqa: D102


class Question(Protocol):
    """What is to be proven."""

    @property
    def place(self) -> Spot: ...  # noqa: D102
    @property
    def base(self) -> str: ...  # noqa: D102
    @property
    def head(self) -> str: ...  # noqa: D102
    @property
    def checks(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def wall(self) -> timedelta: ...  # noqa: D102
    @property
    def may_change(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def before(self) -> tuple[CheckResult, ...] | None: ...  # noqa: D102
    @property
    def stop(self) -> asyncio.Event: ...  # noqa: D102


class Bench:
    """Everything a job touches on disk, under the data folder."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.mirrors = Mirrors(home)
        self.checkouts = Checkouts(home, self.mirrors)

    async def inspect(self, path: Path) -> RepositoryFacts:
        """Look at a person's repository."""
        return await self.mirrors.inspect(path)

    async def refresh(self, project: str, source: Path, branch: str) -> str:
        """Bring our mirror up to date and tell the branch's commit."""
        await self.mirrors.refresh(project, source)
        return await self.mirrors.head_of(project, branch)

    async def pin(self, project: str, job: str, commit: str) -> None:
        """Keep a commit for a job, whatever the person deletes."""
        await self.mirrors.pin(project, job, commit)

    async def clone(self, place: Spot, commit: str) -> Path:
        """Make a private clone to work in."""
        return await self.checkouts.private_clone(place.project, place.job, place.epoch, commit)

    async def collect(self, place: Spot, base: str, scope: ToolScope, do_not_touch: tuple[str, ...]) -> Change:
        """Take the work out of the clone, through quarantine, into the mirror."""
        head = await self.checkouts.head(place.job, place.epoch)
        bundle = await self.checkouts.bundle(place.job, place.epoch, base, head)
        delivery = Delivery(
            project=place.project, job=place.job, epoch=place.epoch, base=base, head=head, bundle=bundle
        )
        return await admit(self._home, self.mirrors, delivery, scope=scope, do_not_touch=do_not_touch)

    async def diff(self, project: str, base: str, head: str) -> str:
        """Show a change as text."""
        return await self.mirrors.diff(project, base, head)

    async def head_so_far(self, job: str, epoch: int) -> str:
        """Tell the commit an agent at work is at; nothing, while it is at none."""
        try:
            return await self.checkouts.head(job, epoch)
        except MidwatchError:
            return ""

    async def diff_so_far(self, job: str, epoch: int, base: str) -> str:
        """Show what an agent at work has committed until now."""
        return await self.checkouts.diff_so_far(job, epoch, base)

    async def prove(self, request: Question) -> Proof:
        """Ask fresh checkouts."""
        place = request.place
        work = Work(project=place.project, job=place.job, base=request.base, head=request.head)
        plan = CheckPlan(commands=request.checks, wall=request.wall, may_change=request.may_change)
        logs = self.log(place.job, "checks").parent
        return await prove(self.checkouts, work, plan, logs=logs, before=request.before, stop=request.stop)

    async def discard(self, job: str) -> None:
        """Throw a job's checkouts away."""
        await self.checkouts.discard(job)

    def log(self, job: str, name: str) -> Path:
        """Tell where a job's log lies."""
        folder = self._home / "jobs" / job
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{name}.log"
