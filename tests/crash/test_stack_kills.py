"""kill -9 anywhere while a stack is merged, then again: one merge of each branch, or none at all."""

import shutil
import signal
from collections.abc import Iterable
from pathlib import Path

import pytest

from midwatch.compose.house import House
from midwatch.store.rebuild import audit
from midwatch.surfaces.queries.audit import violations
from midwatch.surfaces.queries.replay import every_entry
from midwatch.terms.records import PullRequestRow, StackRow
from tests.nights.house import git
from tests.nights.stacked import EIGHT, a_dawn_of, ends, reviews
from tests.store.processes import run_module

MOST_COMMANDS = 20


def takes(home: Path, *how: str) -> int:
    """Merge the stack in a process of its own."""
    code, said = run_module("tests.crash.doomed_stack", str(home), *how)
    assert code in {0, -signal.SIGKILL}, said
    return code


UNCOMMITTED = ("--uncommitted",)
"""Killed with the branch moved and nothing written down: the worst of them."""


def before(command: int) -> tuple[str, ...]:
    return ("--before-command", str(command))


async def killed_at(folder: Path, boundaries: Iterable[tuple[str, ...]]) -> int:
    """Try each boundary on a fresh copy of the same dawn, until the merge ends before it is killed; count the kills."""
    pair = {name: EIGHT[name] for name in ("Alpha", "Amend")}
    async with a_dawn_of(folder / "dawn", pair, checks=()) as (house, _):
        await ends(house)
        await reviews(house)
        base = git(folder / "dawn" / "sample", "rev-parse", "main")
    killed = 0
    for how in boundaries:
        # The project's path is in the records: so the house stays where it is, and its state is put back.
        shutil.copytree(folder / "dawn", folder / "kept", symlinks=True)
        ended = takes(folder / "dawn" / "home", *how)
        assert git(folder / "dawn" / "sample", "rev-parse", "main") in {base, await _tip(folder)}
        assert takes(folder / "dawn" / "home") == 0
        await _merged_once(folder)
        shutil.rmtree(folder / "dawn")
        (folder / "kept").rename(folder / "dawn")
        if ended == 0:
            break
        killed += 1
    return killed


@pytest.mark.crash
async def test_a_stack_killed_before_it_is_written_down_is_merged_once(tmp_path: Path) -> None:
    assert await killed_at(tmp_path, [UNCOMMITTED]) == 1


@pytest.mark.crash
@pytest.mark.sweep
@pytest.mark.timeout(900)
async def test_a_stack_killed_before_any_of_its_commands_is_merged_once(tmp_path: Path) -> None:
    assert await killed_at(tmp_path, map(before, range(1, MOST_COMMANDS))) > 5


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
