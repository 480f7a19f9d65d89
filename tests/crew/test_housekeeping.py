"""The housekeeper driven as an agent, on the real leash."""

import asyncio
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from midwatch.crew.housekeeping import Housekeeper
from midwatch.errors import Broken, Unavailable
from midwatch.workshop.errand import Ended, run_leashed


@dataclass
class Task:
    checkout: Path
    log: Path
    checks: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    most_files: int = 0
    most_lines: int = 0
    wall: timedelta = timedelta(minutes=1)
    idle: timedelta = timedelta(minutes=1)
    stop: asyncio.Event = field(default_factory=asyncio.Event)


class Leash:
    """The real leash, remembering what it was given."""

    def __init__(self) -> None:
        self.words: list[str] = []

    async def __call__(self, argv: Sequence[str], **given: Any) -> Ended:
        self.words = list(argv)
        return await run_leashed(argv, **given)


def remains(place: Path) -> list[Path]:
    return list(place.iterdir())


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's folder for temporary files, to see what stays in it."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """Three files to tidy."""
    root = tmp_path / "checkout"
    root.mkdir()
    for name in "abc":
        (root / f"{name}.py").write_text("import os\n\nprint(1)\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "a person's work"]):
        who = ["-c", "user.name=A Person", "-c", "user.email=person@example.invalid"]
        subprocess.run(["git", "-C", str(root), *who, *words], check=True)
    return Task(checkout=root, log=tmp_path / "log")


async def test_plan_execute_and_repair_keep_to_the_limits_of_the_task(task: Task, temporary: Path) -> None:
    keeper, limited = Housekeeper(run_leashed), replace(task, most_files=2, most_lines=800)
    plan = await keeper.plan(limited)
    assert plan.files == ("a.py", "b.py")
    done = await keeper.execute(limited, plan)
    assert "1 more file waits for another night: the limit is 2 files; nothing is left" in done.summary
    again = await keeper.repair(replace(limited, checks=("true",)), done.base, "")
    assert again.head == done.head
    assert again.left == ()
    assert remains(temporary) == []


async def test_lines_are_limited_too(task: Task) -> None:
    assert (await Housekeeper(run_leashed).plan(replace(task, most_lines=2))).files == ("a.py", "b.py")


async def test_a_check_is_given_less_time_than_the_idle_limit(task: Task) -> None:
    leash = Leash()
    await Housekeeper(leash).plan(replace(task, idle=timedelta(seconds=100)))
    assert "--check-seconds=80.0" in leash.words


async def test_nothing_temporary_stays_after_a_failure(task: Task, temporary: Path) -> None:
    with pytest.raises(Broken, match="not the top of a git checkout"):
        await Housekeeper(run_leashed).plan(replace(task, checkout=task.checkout.parent))
    assert remains(temporary) == []


async def test_nothing_temporary_stays_of_a_housekeeper_that_was_stopped(task: Task, temporary: Path) -> None:
    plan = await Housekeeper(run_leashed).plan(task)
    pipe = task.log.with_name("pipe")
    await asyncio.to_thread(subprocess.run, ["mkfifo", str(pipe)], check=True)
    checked = replace(task, checks=(f"echo $TMPDIR > {pipe}; sleep 1000",))
    async with asyncio.TaskGroup() as group:
        working = group.create_task(_fails(Housekeeper(run_leashed).execute(checked, plan)))
        inside = Path((await asyncio.to_thread(pipe.read_text)).strip())
        # What the killed process could not remove itself lies where we remove it.
        assert inside.is_relative_to(remains(temporary)[0])
        task.stop.set()
    assert isinstance(working.result(), Unavailable)
    assert remains(temporary) == []


async def test_a_value_that_looks_like_an_option_is_a_value(task: Task) -> None:
    plan = await Housekeeper(run_leashed).plan(replace(task, checks=("--version",), avoid=("-x", "a.py")))
    assert plan.checks == ("--version",)
    assert plan.files == ("b.py", "c.py")


async def _fails(work: Any) -> Exception | None:
    try:
        await work
    except Unavailable as wrong:
        return wrong
    return None
