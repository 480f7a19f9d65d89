"""Runs short commands inside walls: checks, setup, bundles and diffs; none of them outlives the server."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from midwatch.errors import Broken
from midwatch.ports.network import RoomNetwork
from midwatch.ports.redaction import NewScrub
from midwatch.terms.trust import Isolation
from midwatch.workshop.rooms.logs import Untouched
from midwatch.workshop.sandbox.background import meanwhile
from midwatch.workshop.sandbox.short_command import CommandEnd, run_limited
from midwatch.workshop.sandbox.walls.doors import Doors, waiting_at
from midwatch.workshop.sandbox.walls.entry import command
from midwatch.workshop.sandbox.walls.spec import SandboxLimits, SandboxSpec


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The walls of this machine: how strong they are, and what every job may use."""

    isolation: Isolation = Isolation.NONE
    toolchains: tuple[Path, ...] = ()
    """Read-only, at their own paths."""
    path: str = field(default_factory=lambda: os.pathsep.join(os.get_exec_path()))
    """Where commands are searched; folders that are not lent do not exist inside."""
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    copies_setup: bool = False
    """Whether each job gets its own copy of what a setup made, instead of all reading the same."""
    scrub: NewScrub = Untouched
    """Redacts secrets from everything that is logged."""

    @property
    def mounts_setup(self) -> bool:
        """Whether jobs see a setup's files in a checkout by a mount."""
        return self.isolation is Isolation.BUBBLEWRAP and not self.copies_setup

    def furnished(self, walls: SandboxSpec) -> SandboxSpec:
        lent = tuple(path for path in self.toolchains if path.exists() and path not in walls.read_only)
        surroundings: Mapping[str, str] = {"PATH": self.path, **walls.environment}
        return replace(walls, read_only=(*walls.read_only, *lent), environment=surroundings)

    async def run(
        self,
        walls: SandboxSpec,
        argv: Sequence[str],
        *,
        log: Path,
        wall: timedelta,
        stop: asyncio.Event | None = None,
        network: RoomNetwork | None = None,
    ) -> CommandEnd:
        """Run a command in the walls' tree until it ends, its time is up or `stop` is set."""
        note = log.with_suffix(".walls")
        if network is not None and self.isolation is Isolation.BUBBLEWRAP:
            surroundings = {**walls.environment, **network.environment}
            walls = replace(walls, environment=surroundings, ports=network.ports, control=log.with_suffix(".doors"))
            walls = replace(walls, read_only=(*walls.read_only, *network.lent))
        entering = await asyncio.to_thread(command, self.furnished(walls), argv, isolation=self.isolation, note=note)
        try:
            async with _served(walls, network):
                return await run_limited(
                    entering, cwd=Path("/"), env={}, log=log, wall=wall, idle=wall, stop=stop, scrub=self.scrub
                )
        finally:
            await asyncio.to_thread(note.unlink, missing_ok=True)


@contextlib.asynccontextmanager
async def _served(walls: SandboxSpec, network: RoomNetwork | None) -> AsyncIterator[None]:
    if walls.control is None or network is None:
        yield
        return
    async with waiting_at(walls.control) as doors, meanwhile(_open_and_serve(doors, network)):
        yield


async def _open_and_serve(doors: Doors, network: RoomNetwork) -> None:
    try:
        listeners = await doors.listeners(network.ports)
    except Broken:
        return  # a command that never opened its doors says why in its log and by its exit code
    doors.let_in()
    await network.serve(listeners)
