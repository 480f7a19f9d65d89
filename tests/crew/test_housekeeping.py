"""The housekeeper driven as an agent, in a real room."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from midwatch.crew.housekeeping import Housekeeper
from midwatch.errors import Broken, Unavailable
from midwatch.ports.agent import Task, TaskFacts, TaskLimits
from midwatch.ports.workspace import RoomRequest
from midwatch.terms.agents import AgentEvent, Decision, Errand
from midwatch.workshop.rooms.workplace import Workplace
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.isolation import enclosure, found
from midwatch.workshop.sandbox.walls.spec import SandboxLimits
from midwatch.workshop.workshop import Workshop
from tests.workshop.rooms_opened import JOB, benched, spot, stay


async def _silent(event: AgentEvent) -> None:
    """Nothing is heard of a housekeeper but its log."""


async def _never(tool: str, given: Mapping[str, Any]) -> Decision:
    raise AssertionError((tool, given))


def task_in(room: Workplace) -> Task:
    return Task(JOB, "Tidy", TaskFacts(Errand.EXECUTE), room, _never, _silent, idle=timedelta(minutes=1))


def limited(task: Task, *, files: int = 0, lines: int = 0, **facts: Any) -> Task:
    return replace(task, facts=replace(task.facts, limits=TaskLimits(files, lines), **facts))


class House:
    """A workshop and a project with three files to tidy."""

    def __init__(self, workshop: Workshop, commit: str) -> None:
        self.workshop, self.commit = workshop, commit
        self.epoch = 0

    async def task(self, asked: RoomRequest | None = None) -> Task:
        """A new room each time."""
        self.epoch += 1
        asked = asked or stay(self.commit)
        room = await self.workshop.rooms.enter(
            replace(asked, place=spot(epoch=self.epoch), purpose=f"execute.{self.epoch}")
        )
        return task_in(room)


@pytest.fixture
def walls(tmp_path: Path) -> Enclosure:
    return enclosure(found().isolation, tmp_path / "home", (), limits=SandboxLimits())


@pytest.fixture
async def house(tmp_path: Path, walls: Enclosure) -> AsyncIterator[House]:
    root = tmp_path / "repository"
    root.mkdir()
    for name in "abc":
        (root / f"{name}.py").write_text("import os\n\nprint(1)\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "a person's work"]):
        who = ["-c", "user.name=A Person", "-c", "user.email=person@example.invalid"]
        await asyncio.to_thread(subprocess.run, ["git", "-C", str(root), *who, *words], check=True)
    house = House(*await benched(tmp_path / "home", walls, root))
    yield house
    assert await house.workshop.rooms.living() == ()


async def test_plan_execute_and_repair_keep_to_the_limits_of_the_task(house: House) -> None:
    keeper = Housekeeper()
    reading = stay(house.commit, reads_only=True)
    plan = await keeper.plan(limited(await house.task(reading), files=2, lines=800))
    assert plan.files == ("a.py", "b.py")
    working = limited(await house.task(), files=2, lines=800)
    done = await keeper.execute(working, plan)
    assert "1 more file waits for another night: the limit is 2 files; nothing is left" in done.summary
    fixing = await house.task(replace(stay(house.commit), takes_over="job_1"))
    again = await keeper.repair(limited(fixing, files=2, checks=("true",)), done.base, "")
    assert again.head == done.head
    assert again.left == ()


async def test_lines_are_limited_too(house: House) -> None:
    assert (await Housekeeper().plan(limited(await house.task(), lines=2))).files == ("a.py", "b.py")


async def test_a_housekeeper_that_cannot_work_says_why(house: House) -> None:
    task = await house.task()
    (task.room.tree / ".git" / "HEAD").unlink()
    with pytest.raises(Broken, match=r"ended by itself with exit code \d+\. Its last output: .*not the top of a git"):
        await Housekeeper().plan(task)


async def test_an_answer_that_is_no_plan_is_not_believed(house: House) -> None:
    task = await house.task()
    room = task.room
    assert isinstance(room, Workplace)
    room.run = lambda *_, **__: Workplace.run(room, (sys.executable, "-c", "print('all tests pass')"))  # type: ignore[method-assign]
    with pytest.raises(Broken, match="Its last output: all tests pass"):
        await Housekeeper().plan(task)


async def test_a_housekeeper_that_is_to_stop_stops(house: House) -> None:
    plan = await Housekeeper().plan(await house.task())
    asked = stay(house.commit)
    task = await house.task(asked)
    begun = task.room.tree / "begun"
    checked = limited(task, checks=("touch begun; sleep 1000",))
    working = asyncio.create_task(Housekeeper().execute(checked, plan))
    while not begun.exists():  # noqa: ASYNC110 - another process makes the file
        await asyncio.sleep(0.01)
    asked.stop.set()
    with pytest.raises(Unavailable, match="was stopped"):
        await working


async def test_a_value_that_looks_like_an_option_is_a_value(house: House) -> None:
    plan = await Housekeeper().plan(limited(await house.task(), checks=("--version",), do_not_touch=("-x", "a.py")))
    assert plan.checks == ("--version",)
    assert plan.files == ("b.py", "c.py")


async def test_it_runs_no_module_of_the_project_that_is_called_like_one_of_its_own(house: House) -> None:
    task = await house.task()
    for name in ("ast.py", "typing.py", "midwatch/__init__.py", "midwatch/crew/__init__.py"):
        module = task.room.tree / name
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text("import pathlib\n\npathlib.Path('ran-here').touch()\nraise SystemExit(3)\n")
    plan = await Housekeeper().plan(task)
    assert {"a.py", "b.py", "c.py"} <= set(plan.files)
    assert not (task.room.tree / "ran-here").exists()
