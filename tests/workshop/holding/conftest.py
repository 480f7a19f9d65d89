"""What holder tests begin with: a job's folder, agents in Python, and proof that nothing of them stays behind."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.holding import records, tree
from midwatch.workshop.holding.held import HeldProgram
from midwatch.workshop.holding.spec import HolderLimits, Spec
from midwatch.workshop.sandbox.walls import entry, groups
from midwatch.workshop.sandbox.walls.probe import probe
from midwatch.workshop.sandbox.walls.spec import SandboxSpec
from tests.conftest import missing
from tests.patience import PATIENCE

MakeSpec = Callable[..., Spec]


@pytest.fixture(autouse=True)
def cage() -> Iterator[Path | None]:
    """Keep all that a test starts in one cgroup, so that nothing of it outlives the test, however it forks."""
    found, _ = groups.parent()
    if found is None or not os.access(found, os.W_OK):
        yield None
        return
    parent = Path(found)
    # Numbers mean something only in one pid namespace, and tests may run in several at a time.
    ours = f"tests-of-midwatch-{Path('/proc/self/ns/pid').stat().st_ino}"
    _sweep_cages(parent, ours)
    cage = parent / f"{ours}-{os.getpid()}-{tree.start_time(os.getpid())}"
    cage.mkdir()
    (cage / "pids.max").write_text("2000")
    (cage / "cgroup.procs").write_text(str(os.getpid()))
    try:
        yield cage
    finally:
        (parent / "cgroup.procs").write_text(str(os.getpid()))
        _, clean = tree.kill_all(list, group=str(cage))
        assert clean


def _sweep_cages(parent: Path, ours: str) -> None:
    """End what the tests of a killed pytest left."""
    for cage in parent.glob(f"{ours}-*"):
        pid, start = (int(word) for word in cage.name.split("-")[-2:])
        if tree.start_time(pid) != start:
            tree.kill_all(list, group=str(cage))


@pytest.fixture
def group_of_its_own(cage: Path | None) -> None:
    """A cgroup that bounds processes, or no test: without one nothing ends a chain of forks outside walls."""
    if cage is None:
        pytest.skip("no pids cgroup can be made here; that takes root or a delegated group")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "jobs" / "job-1"


@pytest.fixture
def mark(tmp_path: Path) -> str:
    return f"HELD_BY_TEST={os.getpid()}-{tmp_path}"


@pytest.fixture
def agent(folder: Path, mark: str) -> Iterator[MakeSpec]:
    """Make a spec for an agent given as Python code."""
    folders: set[Path] = set()

    def make(code: str, *, job: Path = folder, epoch: int = 1, limits: HolderLimits | None = None, **more: Any) -> Spec:
        job.mkdir(parents=True, exist_ok=True)
        folders.add(job)
        name, value = mark.split("=", 1)
        more.setdefault("argv", (sys.executable, "-I", "-S", "-c", code))
        return Spec(
            job, epoch, cwd=job, env={name: value}, limits=limits or HolderLimits(grace=0.2, wall=110.0), **more
        )

    yield make
    for job in folders:
        for epoch in records.epochs(job):
            end_for_good(records.epoch_folder(job, epoch))
    tree.kill_all(lambda: tree.marked(mark))


@pytest.fixture(scope="session")
def bubblewrap() -> None:
    """Walls that hold, or no test."""
    if shutil.which("bwrap") is None or probe().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", "there are no bubblewrap walls here")


@pytest.fixture
def walled(agent: MakeSpec, folder: Path) -> MakeSpec:
    """Make a spec for an agent behind walls of some kind; what the walls are to be is given by name."""

    def make(code: str, isolation: Isolation = Isolation.BUBBLEWRAP, *, walls: Any = (), **more: Any) -> Spec:
        for place in (folder / "tree", folder / "home"):
            place.mkdir(parents=True, exist_ok=True)
        python = "/usr/bin/python3" if isolation is Isolation.BUBBLEWRAP else sys.executable
        laid_out = SandboxSpec(folder / "tree", home=folder / "home", **dict(walls))
        words = (python, "-I", "-S", "-c", code)
        argv = entry.command(laid_out, words, isolation=isolation, note=folder / "note.json")
        return agent("", argv=tuple(argv), control=laid_out.control, ports=laid_out.ports, **more)

    return make


def end_for_good(place: Path) -> None:
    """End whatever a failed test left; a state that a test has rewritten may name anybody."""
    state = records.read_state(place)
    if state is not None:
        pairs = [
            tree.FoundProcess(state.holder, state.holder_start),
            tree.FoundProcess(state.guardian, state.guardian_start),
        ]
        tree.send([pair for pair in pairs if "begin.py" in about(pair.pid, "cmdline")], signal.SIGKILL)
        tree.kill_all(list, group=records.group_of(state, tree.boot_id()))


def about(pid: int, what: str) -> str:
    """Read a file of /proc; empty when the process is gone."""
    try:
        return Path("/proc", str(pid), what).read_text()
    except OSError:
        return ""


def left_over(mark: str, *states: records.State) -> list[int]:
    """Name every process of the agent, its holder or its guardian that still lives."""
    pairs = [(state.holder, state.holder_start) for state in states]
    pairs += [(state.guardian, state.guardian_start) for state in states]
    return [found.pid for found in tree.marked(mark)] + [pid for pid, start in pairs if tree.start_time(pid) == start]


async def until(held: HeldProgram, words: bytes, after: int = 0) -> int:
    """Follow the output until it holds these words; tell where that was."""
    seen = b""
    async with asyncio.timeout(PATIENCE):
        async for piece in held.follow(after):
            seen += piece.data
            if words in seen:
                return piece.after
    raise AssertionError(f"it ended without saying {words!r}: {seen[-2000:]!r}")


async def everything(held: HeldProgram) -> bytes:
    """Follow the output to its end."""
    async with asyncio.timeout(PATIENCE):
        return b"".join([piece.data async for piece in held.follow()])
