"""Shells for a person in a kept checkout: behind the walls its agent had, and held, so that a window may close."""

import asyncio
import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from midwatch.errors import MidwatchError, Refused, Unknown
from midwatch.terms.term import Term
from midwatch.terms.trust import Isolation
from midwatch.workshop.holding import records
from midwatch.workshop.holding.adoption import adopt, launch
from midwatch.workshop.holding.held import HeldProgram
from midwatch.workshop.holding.spec import HolderLimits, Spec
from midwatch.workshop.rooms.setup import lend
from midwatch.workshop.sandbox import safe_files
from midwatch.workshop.sandbox.walls.entry import command
from midwatch.workshop.sandbox.walls.spec import SandboxSpec
from midwatch.workshop.upkeep.folders import part
from midwatch.workshop.workshop import Workshop

FOLDER: Final = "shells"
WALL, IDLE = timedelta(hours=8), timedelta(hours=1)
GRACE: Final = 5.0
PLAIN: Final = "/bin/sh"
SYSTEM: Final = ("/bin/", "/usr/bin/", "/usr/local/bin/")
"""Folders where a shell may be that also exist inside."""
SHOWN_AGAIN: Final = 4096
"""How much earlier output a new viewer sees: enough for the prompt and what led to it."""


class Visit(Term):
    """Which kept checkout a person enters, for what, and on how large a screen."""

    job: str
    project: str
    setup_key: str = ""
    argv: tuple[str, ...]
    rows: int = 24
    columns: int = 80


def folder(home: Path, job: str) -> Path:
    """Return the folder of the records of a job's shells."""
    return home / FOLDER / part(job)


def usual(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Choose the person's own shell if it is one of the system's, else the plain one."""
    own = environment.get("SHELL", "")
    return (own,) if own.startswith(SYSTEM) and os.access(own, os.X_OK) else (PLAIN,)


async def living(home: Path, job: str) -> HeldProgram | None:
    place = folder(home, job)
    if not await asyncio.to_thread(place.is_dir):
        return None
    found = await adopt(place)
    return found if isinstance(found, HeldProgram) else None


async def interactive_program(home: Path, job: str, epoch: int) -> HeldProgram | None:
    """Find the program a person types into in an interactive job; every viewer uses its newest epoch."""
    place = home / "held" / part(job)
    if not await asyncio.to_thread(_begun, place):
        return None
    found = await adopt(place, epoch=epoch)
    return found if isinstance(found, HeldProgram) else None


def _begun(place: Path) -> bool:
    """Whether the newest holder has started: a lookup during its start would settle it as lost."""
    known = records.epochs(place) if place.is_dir() else []
    return bool(known) and records.read_state(records.epoch_folder(place, known[-1])) is not None


async def refuse_while_entered(home: Path, job: str, number: int) -> None:
    """Keep a checkout unchanged while a person is in it."""
    if await living(home, job) is not None:
        raise Refused(
            f"A shell is open in the checkout of job {number}.",
            hint=f"Leave it first: midwatch job attach {number}, then exit",
        )


async def enter(home: Path, workshop: Workshop, visit: Visit) -> HeldProgram:
    """Return the job's living shell, or start one in its newest checkout."""
    found = await living(home, visit.job)
    if found is not None:
        return found
    place = folder(home, visit.job)
    epoch = next(reversed(await asyncio.to_thread(records.epochs, place)), 0) + 1
    walls = await asyncio.to_thread(_walls, workshop, visit)
    isolation = workshop.enclosure.isolation
    note = records.epoch_folder(place, epoch) / "walls.json"
    entering = await asyncio.to_thread(
        command, workshop.enclosure.furnished(walls), visit.argv, isolation=isolation, note=note
    )
    return await launch(
        Spec(
            folder=place,
            epoch=epoch,
            argv=tuple(entering),
            cwd=Path("/"),
            terminal=(visit.rows, visit.columns),
            limits=HolderLimits(wall=WALL.total_seconds(), idle=IDLE.total_seconds(), grace=GRACE),
        ),
        workshop.nursery,
    )


def _walls(workshop: Workshop, visit: Visit) -> SandboxSpec:
    tree = newest(workshop, visit.job)
    if tree is None:
        raise Unknown("This job has no checkout any more.", hint="What it delivered is on its branch: agent/...")
    home = tree.with_name("home")
    home.mkdir(exist_ok=True)
    walls = SandboxSpec(
        tree=tree,
        home=home,
        objects=(workshop.mirrors.path(visit.project) / "objects",),
        environment={"TERM": os.environ.get("TERM", "dumb"), "PS1": "$PWD $ "},
        terminal=workshop.rooms.isolation is Isolation.BUBBLEWRAP,
        limits=workshop.enclosure.limits,
    )
    made = workshop.setups.made(visit.project, visit.setup_key)
    return walls if made is None else lend(made, walls, workshop.enclosure)


def newest(workshop: Workshop, job: str) -> Path | None:
    """Find the newest checkout a job left."""
    attempts = workshop.checkouts.tree(job, 0).parents[1]
    epochs = [int(one.name) for one in attempts.glob("*") if one.name.isdigit()] if attempts.is_dir() else []
    trees = (workshop.checkouts.tree(job, epoch) for epoch in sorted(epochs, reverse=True))
    return next((tree for tree in trees if tree.is_dir()), None)


def branch_of(tree: Path) -> str:
    """Return the branch of a checkout, by reading a file: git is never run where an agent may set traps."""
    try:
        name = safe_files.text(tree, ".git/HEAD")
    except MidwatchError:
        return ""
    return name.removeprefix("ref: refs/heads/") if name.startswith("ref: refs/heads/") else ""


def since(held: HeldProgram) -> int:
    """Return the position in its output from which a shell is shown to a new viewer."""
    said = held.place / records.OUT
    segments = sorted(int(one.name) for one in said.glob("*") if one.name.isdigit()) if said.is_dir() else []
    if not segments:
        return 0
    end = segments[-1] + (said / f"{segments[-1]:016d}").stat().st_size
    return max(segments[0], end - SHOWN_AGAIN)
