"""The walks of docs/architecture.md are what really happens: each runs here, and calls its modules in that order."""

import asyncio
import re
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType

import pytest

import midwatch
from midwatch.night.commands import steering
from midwatch.ports.agent import Task
from midwatch.surfaces.web.stream.live_regions import Painter
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import Done, JobState, Plan
from midwatch.terms.records import AskRow, JobRow
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.isolation import found
from tests.conftest import missing
from tests.nights.house import a_house, orders, sample_repository
from tests.nights.roomed import RoomedAgent
from tests.nights.test_signals import ASKS, asked
from tests.surfaces.viewers import streaming, viewing
from tests.surfaces.visitor import visiting, welcome

SOURCE = Path(midwatch.__file__).parent
DOCUMENT = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")


class Trace:
    """Which modules of Midwatch were called, in the order of their first call; `first` is where it begins."""

    def __init__(self, first: str = "") -> None:
        self.modules: list[str] = []
        self.listens = True
        self._first = f"{SOURCE}/{first}.py" if first else ""
        self._seen: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if not self.listens or (self._first and file != self._first):
            return
        self._first = ""
        if event == "call" and file not in self._seen:
            self._seen.add(file)
            if file.startswith(f"{SOURCE}/") and frame.f_code.co_name != "<module>":
                self.modules.append(file.removeprefix(f"{SOURCE}/").removesuffix(".py"))

    def __enter__(self) -> "Trace":
        threading.setprofile(self)
        sys.setprofile(self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)


async def sentence(folder: Path) -> Trace:
    """`POST /api/v1/code` until there is a pull request."""
    async with a_house(folder / "home") as house, visiting(house.house) as visitor:
        await welcome(house.house, visitor)
        await house.project(sample_repository(folder / "sample"))
        with Trace() as trace:
            await visitor.api("POST", "/code", {"sentence": "Tidy up", "projects": ["sample"]})
            await house.settle()
            (ask,) = await house.house.records.find(AskRow, state=AskState.OPEN)
            await visitor.api("POST", f"/asks/{ask.number}/answer", {"answer": "approve", "shown_hash": ask.shown_hash})
            await house.settle()
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.DONE, job.why
    return trace


class WaitingAgent(RoomedAgent):
    """Begins its work when it is told to."""

    def __init__(self, script: str) -> None:
        super().__init__(script)
        self.called, self.told = asyncio.Event(), asyncio.Event()

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        self.called.set()
        await self.told.wait()
        return await super().execute(assignment, plan)


async def question(folder: Path) -> Trace:
    """An agent's file becomes an ask, and the person's answer a file for the agent."""
    if found().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", found().why)
    trace, agent = Trace(walk("question")[0]), WaitingAgent(ASKS)
    trace.listens = False
    with trace:  # before there is any other thread: one that is there already cannot be traced
        await _question(folder, trace, agent)
    return trace


async def _question(folder: Path, trace: Trace, agent: WaitingAgent) -> None:
    async with (
        a_house(folder / "home", agents={"housekeeper": agent}) as house,
        visiting(house.house) as visitor,
    ):
        await welcome(house.house, visitor)
        await house.project(sample_repository(folder / "sample"))
        await house.begin(orders("Look at it"))
        night = asyncio.create_task(house.pass_time(hours=1))
        await agent.called.wait()
        trace.listens = True
        agent.told.set()
        ask = await asked(house)
        await visitor.api("POST", f"/asks/{ask.number}/answer", {"answer": "blue", "shown_hash": ask.shown_hash})
        await night


async def entry(folder: Path) -> Trace:
    """An entry is written, and the Live page of a reader is brought up to date."""
    async with a_house(folder / "home") as house:
        await house.project(sample_repository(folder / "sample"))
        session = await house.begin(orders("Tidy up"))
        async with (
            streaming(house.house, paint=Painter(house.house).paint) as served,
            viewing(served.port, accept="text/html") as viewer,
        ):
            before = len(viewer.told)
            with Trace() as trace:
                await steering.pause(house.house.journal, session, by="ann", why="")
                await viewer.until(lambda one: len(one.told) > before)
    return trace


WALKS: dict[str, Callable[[Path], Awaitable[Trace]]] = {"sentence": sentence, "question": question, "entry": entry}


def walk(name: str) -> list[str]:
    """The modules a walk names, in order."""
    shown = re.search(rf"<!-- walk: {name} -->\n(.*?)<!-- end -->", DOCUMENT, re.DOTALL)
    assert shown
    return re.findall(r"^\d+\. `([\w/]+)\.py`", shown[1], re.MULTILINE)


@pytest.mark.parametrize("name", sorted(WALKS))
async def test_a_walk_is_what_really_happens(name: str, tmp_path: Path) -> None:
    steps, trace = walk(name), await WALKS[name](tmp_path)
    assert steps
    assert not [step for step in steps if step not in trace.modules], "these are not called"
    assert steps == sorted(steps, key=trace.modules.index), "this is not their order"
