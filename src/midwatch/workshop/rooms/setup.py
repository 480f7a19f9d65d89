"""A project's setup: one command that prepares a checkout, run once per set of lockfiles and lent to every job."""

import asyncio
import hashlib
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from midwatch.errors import Broken, Unavailable
from midwatch.ports.network import RoomNetwork
from midwatch.rules.checks.missing_tools import how_to_get, missing_tool
from midwatch.rules.checks.setups import (
    SetupChoice,
    choose_setup,
    clients_named,
    denial_text,
    propose_setups,
    refusal_text,
    wanted_hosts,
)
from midwatch.rules.paths import names
from midwatch.rules.recovery.failing_output import failing_output
from midwatch.terms.figures import first_few
from midwatch.terms.jobs import CheckResult
from midwatch.terms.projects import commit_id
from midwatch.workshop.checks.change_facts import look
from midwatch.workshop.checks.checks import advice
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.sandbox import safe_files
from midwatch.workshop.sandbox.background import meanwhile
from midwatch.workshop.sandbox.deep_folders import copy, remove
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.short_command import CommandEnd
from midwatch.workshop.sandbox.walls.spec import SandboxSpec
from midwatch.workshop.upkeep.folders import locked, part

DEPENDS_ON = (
    *("*.lock", "*-lock.json", "*-lock.yaml", "go.sum", "go.mod", "npm-shrinkwrap.json", "package.json", "*.nix"),
    *("requirements*.txt", "requirements*.in", "constraints*.txt", "pyproject.toml", "setup.py", "setup.cfg"),
    *("Cargo.toml", "Gemfile", "composer.json", "pom.xml", "build.gradle*", ".tool-versions", ".python-version"),
)
"""A change to any of these files makes setup run again."""

SCRATCH = {"node_modules": (".cache", ".vite", ".vite-temp")}
"""Folders that tools write while they run, in what a setup made; the rest of it is shared by jobs and read-only."""

OUTSIDE, INSIDE, LISTING = "made", "tree", "placed"
VARIABLE, CARGO_SETTINGS = "MIDWATCH_CACHE", "MIDWATCH_CARGO_SETTINGS"
SHOWN = 5
NOT_LENT = "links at the top of the checkout, and names that cannot be printed, are not kept from a setup."
EXCLUDED, MOST_BYTES = ".git/info/exclude", 1 << 20


@dataclass(frozen=True, slots=True)
class Made:
    """What a setup made: a folder of its own, and what it left in the checkout without committing it."""

    fingerprint: str
    folder: Path
    placed: tuple[str, ...] = ()
    """Paths in the tree, such as `node_modules`, that are stored below `folder`."""

    @property
    def environment(self) -> dict[str, str]:
        """Return the variable that names the setup's own folder, and those by which cargo and go find theirs in it."""
        outside = self.folder / OUTSIDE
        named = {VARIABLE: str(outside)}
        if (outside / "cargo").is_dir():
            named |= {"CARGO_HOME": str(outside / "cargo"), "CARGO_NET_OFFLINE": "true"}
        if (outside / "go").is_dir():
            named |= {"GOMODCACHE": str(outside / "go"), "GOPROXY": "off", "GOFLAGS": "-mod=mod"}
        return named


class Setups:
    """The results of setups, under one data folder: `setup/<project>/<fingerprint>`."""

    def __init__(self, home: Path, checkouts: Checkouts, enclosure: Enclosure) -> None:
        self._folder = home / "setup"
        self._checkouts = checkouts
        self.enclosure = enclosure

    async def fingerprint(self, project: str, commit: str, command: str) -> str:
        """Name a setup by its command and by the files it depends on, as they are in a commit."""
        listed = await self._listed(project, commit)
        chosen = [f"{blob} {path}" for path, blob in listed if names(path, DEPENDS_ON)]
        text = "\n".join([command, self.enclosure.isolation.value, *sorted(chosen)])
        return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:24]

    async def choice(self, project: str, commit: str, named: str, allowed: Sequence[str]) -> SetupChoice:
        """Choose the setup of a commit: the one a person named, else what its lockfiles ask for."""
        found = () if named else propose_setups(await look(self._checkouts.mirrors, project, commit, ()))
        return choose_setup(named, found, allowed)

    async def missing_programs(
        self, project: str, job: str, commit: str, programs: Sequence[str], *, log: Path, wall: timedelta
    ) -> tuple[CheckResult, ...]:
        """Ask inside the sandbox which programs a setup would not find, each with what to do about it."""
        found: list[CheckResult] = []
        async with self._checkouts.passing(project, job, commit, "setup") as tree:
            home = tree.with_name("home")
            await asyncio.to_thread(home.mkdir, exist_ok=True)
            walls = SandboxSpec(tree=tree, home=home, limits=self.enclosure.limits)
            for program in programs:
                asked = ["/bin/sh", "-c", 'command -v "$1" >/dev/null || exit 127', "sh", program]
                ended = await self.enclosure.run(walls, asked, log=log, wall=wall)
                if ended.exit_code:
                    tail = advice(program, ended, self.enclosure.isolation)
                    found.append(CheckResult(command=program, exit_code=ended.exit_code, tail=tail))
        return tuple(found)

    def made(self, project: str, fingerprint: str) -> Made | None:
        """Find the result of an earlier setup."""
        place = self._folder / part(project) / part(fingerprint) if fingerprint else None
        if place is None or not (place / LISTING).is_file():
            return None  # the list is written last: without it a setup was interrupted
        return Made(fingerprint, place, tuple((place / LISTING).read_text().splitlines()))

    async def make(  # noqa: PLR0913 - each is one plain fact about one setup
        self,
        project: str,
        job: str,
        commit: str,
        command: str,
        *,
        log: Path,
        wall: timedelta,
        network: RoomNetwork | None = None,
        stop: asyncio.Event | None = None,
    ) -> tuple[Made, bool, float]:
        """Run the setup unless its result exists; return what was made, whether it existed, and the seconds."""
        begun = time.monotonic()
        named = await self.fingerprint(project, commit, command)
        place = self._folder / part(project) / named
        async with locked(place.with_name(f"{named}.lock")):
            if found := await asyncio.to_thread(self.made, project, named):
                return found, True, 0.0
            # Not made elsewhere and renamed: many tools record the path they were installed at.
            await asyncio.to_thread(_begin, place)
            async with self._checkouts.passing(project, job, commit, "setup") as tree:
                try:
                    await self._run(tree, place, command, log=log, wall=wall, network=network, stop=stop)
                except BaseException:
                    await asyncio.to_thread(remove, place)
                    raise
                committed = frozenset(path.split("/")[0] for path, _ in await self._listed(project, commit))
                left_out = await asyncio.to_thread(_gather, tree, place, committed)
                await asyncio.to_thread(_say_left_out, left_out, log)
        done = self.made(project, named)
        assert done is not None  # noqa: S101 - we hold its lock
        return done, False, round(time.monotonic() - begun, 3)

    async def _listed(self, project: str, commit: str) -> list[tuple[str, str]]:
        mirrors = self._checkouts.mirrors
        listed = await mirrors.git.run(mirrors.path(project), "ls-tree", "-r", "-z", commit_id(commit))
        lines = (line.split(b"\t", 1) for line in listed.split(b"\0") if line)
        return [(path.decode(errors="replace"), about.split()[2].decode()) for about, path in lines]

    async def _run(  # noqa: PLR0913 - each is one plain fact about one setup
        self,
        tree: Path,
        place: Path,
        command: str,
        *,
        log: Path,
        wall: timedelta,
        network: RoomNetwork | None,
        stop: asyncio.Event | None,
    ) -> None:
        home = tree.with_name("home")
        await asyncio.to_thread(home.mkdir, exist_ok=True)
        cache = place / OUTSIDE
        settings = network.environment.get(CARGO_SETTINGS) if network is not None else None
        own = await asyncio.to_thread(_cargo_home, cache, Path(settings)) if settings else {}
        walls = SandboxSpec(
            tree=tree,
            home=home,
            writable=(cache,),
            environment={VARIABLE: str(cache), "CI": "true", **own},
            limits=self.enclosure.limits,
        )
        argv = ["/bin/sh", "-c", command]
        ends = asyncio.Event()
        async with meanwhile(*(_pass_on(one, ends) for one in (stop, network and network.only_repeats) if one)):
            ended = await self.enclosure.run(
                walls, argv, log=log, wall=wall, stop=ends, network=network, watched="The project's setup"
            )
        if ended.stopped and stop is not None and stop.is_set():
            raise Unavailable("The setup was stopped before it had ended.", hint="Resume the job to run it again.")
        if ended.wrote_too_much:
            hint = "Make it smaller, or raise sandbox.check_mib or sandbox.check_max_files."
            raise Broken(ended.wrote_too_much, hint=hint, because=(ended.tail,))
        if ended.exit_code:
            error = await _failure(command, ended, log, network, self.enclosure)
            raise error.with_exit(ended.exit_code)


async def _pass_on(event: asyncio.Event, to: asyncio.Event) -> None:
    await event.wait()
    to.set()


async def _failure(
    command: str, ended: CommandEnd, log: Path, network: RoomNetwork | None, enclosure: Enclosure
) -> Broken:
    """Say why a setup failed: a host it was refused, a program that is not there, or what it said itself."""
    refused = await network.refused(clients_named(command)) if network is not None else ()
    if unlisted := [one for one in refused if not one.status]:
        text, hint = refusal_text((one.host, one.client) for one in unlisted)
        broken = Broken(text, hint=hint, because=(ended.tail,))
        broken.settings = wanted_hosts(one.client or one.host for one in unlisted)
        return broken
    if refused:
        first = refused[0]
        text, hint = denial_text(first.client, first.host, first.status, in_settings=first.route)
        return Broken(text, hint=hint, because=(ended.tail,))
    tail = ended.tail + advice(command, ended, enclosure.isolation)
    result = CheckResult(command=command, exit_code=ended.exit_code, tail=tail)
    if missing := missing_tool(result):
        text = f"The setup `{command}` cannot run: {missing} is not there."
        return Broken(text, hint=how_to_get(missing, result), because=(ended.tail,))
    said = await asyncio.to_thread(failing_output, ended.output or ended.tail)
    return Broken(
        f"The project's setup ended with {ended.exit_code}: {said.line or 'it said nothing'}",
        hint=f"Read {log}; hosts it needs belong in sandbox.setup_domains, tools in sandbox.toolchains.",
        because=(said.part,),
    )


def _cargo_home(cache: Path, settings: Path) -> dict[str, str]:
    """Give cargo the registries of this machine where jobs find them again: it reads them from a file only."""
    home = cache / "cargo"
    home.mkdir()
    shutil.copyfile(settings, home / "config.toml")
    return {"CARGO_HOME": str(home)}


def _begin(place: Path) -> None:
    remove(place)
    (place / OUTSIDE).mkdir(parents=True)


def _gather(tree: Path, place: Path, committed: frozenset[str]) -> list[str]:
    """Move what setup left at the top of the checkout (`.venv`, `node_modules`) beside its own folder.

    Return the names that jobs will not find: links, and what cannot be listed, one name in a line.
    """
    kept, left_out = place / INSIDE, list[str]()
    kept.mkdir()
    for entry in sorted(tree.iterdir()):
        if entry.name in committed or entry.name == ".git":
            continue
        if entry.is_symlink() or not entry.name.isprintable():
            left_out.append(entry.name)
        else:
            entry.rename(kept / entry.name)
    (place / LISTING).write_text("".join(f"{entry.name}\n" for entry in sorted(kept.iterdir())))
    return left_out


def _say_left_out(names: list[str], log: Path) -> None:
    """End the setup's log with what it made and jobs will not find."""
    if names:
        shown = first_few([repr(name) for name in names], SHOWN)
        with log.open("a") as file:
            file.write(f"\nMidwatch: jobs will not find {shown}: {NOT_LENT}\n")


def lend(made: Made, walls: SandboxSpec, enclosure: Enclosure) -> SandboxSpec:
    """Add a setup's result to walls that are about to be built: mounted where walls can mount, else copied."""
    kept = made.folder / INSIDE
    environment = {**walls.environment, **made.environment}
    walls = replace(walls, environment=environment, read_only=(*walls.read_only, made.folder / OUTSIDE))
    _leave_out(walls.tree, made.placed)
    if enclosure.mounts_setup:
        for name in made.placed:
            _make_room_for(walls.tree / name, folder=(kept / name).is_dir())
        placed = tuple((kept / name, name) for name in made.placed)
        return replace(walls, placed=placed, scratch=tuple(_scratch(kept, made.placed)))
    for name in made.placed:
        place = walls.tree / name
        if not os.path.lexists(place):
            _copy(kept / name, place)
    return walls


def _leave_out(tree: Path, placed: tuple[str, ...]) -> None:
    """Keep what a setup made out of commits, also where the project does not ignore it, such as a new lockfile."""
    known = (safe_files.read(tree, EXCLUDED, most=MOST_BYTES) or b"").decode(errors="replace")
    new = [line for line in (f"/{name}" for name in placed) if line not in known.splitlines()]
    if new:
        safe_files.write(tree, EXCLUDED, "\n".join([known.rstrip("\n"), *new, ""]).lstrip("\n").encode())


def _scratch(kept: Path, placed: tuple[str, ...]) -> Iterator[str]:
    for name in placed:
        for inner in SCRATCH.get(name, ()):
            place = kept / name / inner
            if not os.path.lexists(place):
                place.mkdir()  # a mount point: jobs see the folder around it read-only
            if place.is_dir() and not place.is_symlink():
                yield f"{name}/{inner}"


def _copy(made: Path, place: Path) -> None:
    if made.is_dir():
        copy(made, place)
    else:
        shutil.copy2(made, place)


def _make_room_for(place: Path, *, folder: bool) -> None:
    """A mount point: in a tree that is shown read-only it cannot be made later."""
    if not os.path.lexists(place):
        place.mkdir() if folder else place.touch()
