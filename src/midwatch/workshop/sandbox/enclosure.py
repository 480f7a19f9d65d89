"""Runs short commands inside walls: checks, setup, bundles and diffs; none of them outlives the server."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from midwatch.errors import Broken, Misuse
from midwatch.ports.network import RoomNetwork
from midwatch.ports.redaction import NewScrub
from midwatch.terms.trust import Isolation
from midwatch.workshop.rooms.logs import Untouched
from midwatch.workshop.sandbox.background import meanwhile
from midwatch.workshop.sandbox.disk import Watch
from midwatch.workshop.sandbox.process_limits import STOPPED
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
    left_out: tuple[Misuse, ...] = ()
    """Why what the settings lend is not lent, or what is lent and should not be."""
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

    async def run(  # noqa: PLR0913 - each is one plain fact about one command
        self,
        walls: SandboxSpec,
        argv: Sequence[str],
        *,
        log: Path,
        wall: timedelta,
        stop: asyncio.Event | None = None,
        network: RoomNetwork | None = None,
        watched: str = "",
    ) -> CommandEnd:
        """Run a command in the walls' tree until it ends, its time is up or `stop` is set.

        What is `watched`, by the name that a person knows it by, may write as much as the limits of the walls say.
        """
        note = log.with_suffix(".walls")
        if network is not None and self.isolation is Isolation.BUBBLEWRAP:
            surroundings = {**walls.environment, **network.environment}
            walls = replace(walls, environment=surroundings, ports=network.ports, control=log.with_suffix(".doors"))
            walls = replace(walls, read_only=(*walls.read_only, *network.lent))
        entering = await asyncio.to_thread(command, self.furnished(walls), argv, isolation=self.isolation, note=note)
        try:
            ends, over = asyncio.Event(), list[str]()
            watch = await asyncio.to_thread(_watch, walls, watched) if watched else None
            async with _served(walls, network), meanwhile(_pass_on(stop, ends), _watch_disk(watch, over, ends)):
                ended = await run_limited(
                    entering, cwd=Path("/"), env={}, log=log, wall=wall, idle=wall, stop=ends, scrub=self.scrub
                )
            if not over:
                return ended
            tail = f"{ended.tail}\n[midwatch: {over[0]}]\n"
            told = {"wrote_too_much": over[0], "tail": tail, "exit_code": ended.exit_code or STOPPED}
            return ended.model_copy(update={**told, "stopped": stop is not None and stop.is_set()})
        finally:
            await asyncio.to_thread(note.unlink, missing_ok=True)


def _watch(walls: SandboxSpec, who: str) -> Watch:
    limits = walls.limits
    folders = [folder for folder in (walls.home, walls.tmp, *walls.writable) if folder is not None]
    return Watch(
        walls.tree,
        floor=limits.free_bytes,
        most=limits.written_bytes,
        most_files=limits.written_files,
        also=tuple(folders),
        who=who,
    ).above_what_is_there()


async def _watch_disk(watch: Watch | None, over: list[str], ends: asyncio.Event) -> None:
    if watch is not None:
        over.append(await watch.until_too_much())
        ends.set()


async def _pass_on(event: asyncio.Event | None, to: asyncio.Event) -> None:
    if event is not None:
        await event.wait()
        to.set()


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
