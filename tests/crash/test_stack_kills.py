"""kill -9 anywhere while a stack is merged, then again: one merge of each branch, or none at all."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.compose import House
from midwatch.store.audit import audit
from midwatch.surfaces.checking import every_entry, violations
from midwatch.terms.records import PullRequestRow, StackRow
from tests.nights.house import git
from tests.nights.stacked import EIGHT, a_dawn_of, ends

ROOT = Path(__file__).parents[2]
MOST_COMMANDS = 20


def takes(home: Path, *how: str) -> int:
    """Merge the stack in a process of its own."""
    command = [sys.executable, "-m", "tests.crash.doomed_stack", str(home), *how]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr[-2000:]
    return done.returncode


def boundaries() -> Iterator[tuple[str, ...]]:
    yield ("--uncommitted",)
    yield from (("--before-command", str(number)) for number in range(1, MOST_COMMANDS))


@pytest.mark.crash
async def test_a_stack_killed_at_any_boundary_is_merged_once(tmp_path: Path) -> None:
    """Each boundary on a fresh copy of the same dawn, until the merge ends before it is killed."""
    pair = {name: EIGHT[name] for name in ("Alpha", "Amend")}
    async with a_dawn_of(tmp_path / "dawn", pair, checks=("true",)) as (house, _):
        await ends(house)
        base = git(tmp_path / "dawn" / "sample", "rev-parse", "main")
    killed = 0
    for how in boundaries():
        # The project's path is in the records: so the house stays where it is, and its state is put back.
        shutil.rmtree(tmp_path / "kept", ignore_errors=True)
        shutil.copytree(tmp_path / "dawn", tmp_path / "kept", symlinks=True)
        ended = takes(tmp_path / "dawn" / "home", *how)
        assert git(tmp_path / "dawn" / "sample", "rev-parse", "main") in {base, await _tip(tmp_path)}
        assert takes(tmp_path / "dawn" / "home") == 0
        await _merged_once(tmp_path)
        shutil.rmtree(tmp_path / "dawn")
        (tmp_path / "kept").rename(tmp_path / "dawn")
        if ended == 0:
            break
        killed += 1
    assert killed > 5


async def _tip(folder: Path) -> str:
    house = House(folder / "dawn" / "home")
    try:
        return (await house.records.get(StackRow, "1")).tip
    finally:
        await house.dispose()


async def _merged_once(folder: Path) -> None:
    source, tip = folder / "dawn" / "sample", await _tip(folder)
    assert git(source, "rev-parse", "main") == tip
    assert git(source, "status", "--porcelain") == ""
    house = House(folder / "dawn" / "home")
    try:
        assert await violations(house) == ()
        assert {row.state for row in await house.records.find(PullRequestRow)} == {"merged"}
        kinds = [entry.event.kind for entry in await every_entry(house)]
        assert (kinds.count("stack.merged"), kinds.count("pull_request.merged")) == (1, 2)
    finally:
        await house.dispose()
    found = audit(f"sqlite:///{folder / 'dawn' / 'home' / 'midwatch.db'}")
    assert (found.broken, found.differs) == ("", ())
