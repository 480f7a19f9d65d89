"""Runs short commands inside walls: checks, setup, bundles and diffs, each gone when we are."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from midwatch.terms.trust import Isolation
from midwatch.workshop.errand import Ended, run_leashed
from midwatch.workshop.walls.entry import command
from midwatch.workshop.walls.spec import Limits, Walls


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The walls of this machine: how strong they are, and what every job is lent."""

    isolation: Isolation = Isolation.NONE
    toolchains: tuple[Path, ...] = ()
    """Read-only, at their own paths."""
    path: str = field(default_factory=lambda: os.pathsep.join(os.get_exec_path()))
    """Where commands are looked for; folders that are not lent simply are not there."""
    limits: Limits = field(default_factory=Limits)

    def furnished(self, walls: Walls) -> Walls:
        """Add what every job is lent."""
        lent = tuple(path for path in self.toolchains if path.exists() and path not in walls.read_only)
        surroundings: Mapping[str, str] = {"PATH": self.path, **walls.environment}
        return replace(walls, read_only=(*walls.read_only, *lent), environment=surroundings)

    async def run(
        self,
        walls: Walls,
        argv: Sequence[str],
        *,
        log: Path,
        wall: timedelta,
        stop: asyncio.Event | None = None,
    ) -> Ended:
        """Run a command in the walls' tree until it ends, its time is up or `stop` is set."""
        note = log.with_suffix(".walls")
        entering = await asyncio.to_thread(command, self.furnished(walls), argv, isolation=self.isolation, note=note)
        try:
            return await run_leashed(entering, cwd=Path("/"), env={}, log=log, wall=wall, idle=wall, stop=stop)
        finally:
            await asyncio.to_thread(note.unlink, missing_ok=True)
