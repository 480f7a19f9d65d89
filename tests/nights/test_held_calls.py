"""Calls that wait for a person: held, answered once, found again after a restart, taken back with the job (A6, N27)."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from midwatch.errors import Refused, Unavailable, Unknown
from midwatch.evening import projects as by_day
from midwatch.journal.events.crew import ToolCallDecided
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.night.commands.code_command import Commanded
from midwatch.night.jobs import attempt
from midwatch.ports.agent import Task
from midwatch.terms.agents import Decision
from midwatch.terms.asks import AskKind, AskState
from midwatch.terms.jobs import Done, JobState, Plan, Stage
from midwatch.terms.orders import OrderedWork
from midwatch.terms.records import AskRow, JobRow, ProjectRow, PullRequestRow
from midwatch.terms.trust import Isolation, Level
from tests.conftest import missing
from tests.nights.house import CHECK, FAULTS, TestHouse, a_house, orders, sample_repository
from tests.nights.scripted import Edit, ScriptedAgent, write
from tests.nights.test_behind_walls import LATER, killed
from tests.nights.test_commands import commanded
from tests.nights.test_first_night import all_is_well
from tests.patience import PATIENCE

Call = tuple[str, Mapping[str, Any]]
INSTALL: Call = ("Bash", {"command": "npm install left-pad\nnpm test", "cwd": "/ws"})
FETCH: Call = ("WebFetch", {"url": "https://docs.example.org/x"})
LISTED = {"execution.allowed_tools": ["Read", "Edit", "Bash(git *)"]}
"""A list that a person wrote: inside walls nothing else is asked about."""
ALWAYS = "always allow here: Bash(npm install *), Bash(npm test *)"
QUESTION = "Allow job 1 to use Bash?\n$ npm install left-pad\n> npm test\nin /ws"


def _writes(tree: Path) -> None:
    (tree / "sample" / "new.py").write_text("x = 1\n")


class Caller(ScriptedAgent):
    """Asks about each call of a list, one after the other or all at once, and remembers what it was told."""

    def __init__(self, *calls: Call, at_once: bool = False, stays: bool = False) -> None:
        super().__init__(_writes)
        self.calls = calls
        self.at_once = at_once
        self.stays = stays
        self.told: list[Decision] = []
        self.has_all = asyncio.Event()

    def edits(self, edit: Edit) -> None:
        self._edit = edit

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        inside = str(assignment.room.inside)
        asking = [
            assignment.decide(tool, {key: value.replace("/ws", inside) for key, value in given.items()})
            for tool, given in self.calls
        ]
        if self.at_once:
            self.told += await asyncio.gather(*asking)
        else:
            for one in asking:
                self.told.append(await one)
        self.has_all.set()
        if self.stays:
            await asyncio.Event().wait()
        return await super().execute(assignment, plan)


async def asks(house: TestHouse, *states: AskState) -> tuple[AskRow, ...]:
    found = await house.house.records.find(AskRow, kind=AskKind.CONFIRM_ACT, state=states or tuple(AskState))
    return tuple(row for row in found if row.subject.startswith("job_"))


async def held(house: TestHouse, source: Path, number: int = 1) -> tuple[asyncio.Task[None], tuple[AskRow, ...]]:
    """Let a night run until so many calls are held, and leave it there."""
    await house.project(source)
    await house.begin(orders("Look at it"))
    night = asyncio.create_task(house.pass_time(hours=1))
    return night, await opened(house, number)


async def opened(house: TestHouse, number: int = 1) -> tuple[AskRow, ...]:
    async with asyncio.timeout(PATIENCE):
        while len(found := await asks(house, AskState.OPEN)) < number:  # noqa: ASYNC110 - the night is another task
            await asyncio.sleep(0.02)
    return found


async def decided(house: TestHouse) -> list[tuple[str, str, str]]:
    entries = await house.house.journal.entries(kinds=("tool_call.decided",))
    events = [entry.event for entry in entries]
    return [(one.verdict, one.code, one.by) for one in events if isinstance(one, ToolCallDecided)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return sample_repository(tmp_path / "sample")


async def test_the_person_sees_exactly_what_would_run_and_a_yes_lets_it(tmp_path: Path, source: Path) -> None:
    agent = Caller(INSTALL)
    async with a_house(tmp_path / "home", flags=LISTED, agents={"housekeeper": agent}) as house:
        night, (ask,) = await held(house, source)
        where = ask.question.rpartition("\nin ")[2]
        assert ask.question.replace(where, "/ws") == QUESTION
        await settlement.answer(house.house.books, ask.id, "yes", by="ann", shown=ask.shown_hash)
        await night
        assert [(one.allowed, one.why) for one in agent.told] == [(True, "ann said yes.")]
        assert await decided(house) == [("ask", "call.run_unlisted", ""), ("allow", "call.run_unlisted", "ann")]
        await all_is_well(house)


async def test_inside_strong_walls_ordinary_work_and_the_project_s_checks_run_and_nobody_is_asked(
    tmp_path: Path, source: Path
) -> None:
    agent = Caller(INSTALL, ("Bash", {"command": "python3 - <<'EOF'\nprint(1)\nEOF"}), ("Bash", {"command": CHECK}))
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        if house.house.workshop.rooms.isolation is not Isolation.BUBBLEWRAP:
            missing("bwrap", "bubblewrap does not work here")
        await house.project(source)
        await house.begin(orders("Look at it"))
        await house.to_the_brief()
        assert [one.allowed for one in agent.told] == [True, True, True]
        assert [code for _, code, _ in await decided(house)] == ["call.run_allowed", "call.run_allowed", "call.run_own"]
        assert await asks(house) == ()
        await all_is_well(house)


@pytest.mark.parametrize("checks", [(CHECK,), ()])
async def test_without_walls_the_list_binds_and_the_checks_run_named_or_found(
    tmp_path: Path, checks: tuple[str, ...]
) -> None:
    found = "make test"
    source = sample_repository(tmp_path / "sample", {**FAULTS, "Makefile": f"test:\n\t{CHECK}\n"})
    agent = Caller(("Bash", {"command": CHECK if checks else found}), INSTALL)
    flags = {"sandbox.isolation": "none"}
    async with a_house(tmp_path / "home", flags=flags, agents={"housekeeper": agent}) as house:
        await house.project(source, checks=checks)
        await house.begin(orders("Look at it"))
        night = asyncio.create_task(house.pass_time(hours=1))
        (ask,) = await opened(house)
        await settlement.answer(house.house.books, ask.id, "no", by="ann")
        await night
        assert [one.allowed for one in agent.told] == [True, False]
        assert [code for _, code, _ in await decided(house)] == ["call.run_own", *["call.run_unlisted"] * 2]


async def test_always_allow_here_is_an_entry_of_the_project_that_can_be_taken_back(
    tmp_path: Path, source: Path
) -> None:
    agent = Caller(INSTALL, INSTALL)
    async with a_house(tmp_path / "home", flags=LISTED, agents={"housekeeper": agent}) as house:
        night, (ask,) = await held(house, source)
        assert ask.options == ("yes", ALWAYS, "no")
        proposed = await by_day.propose_settings(house.house.books, {"ceilings.tools": ["Bash(npm test *)"]}, by="ann")
        await by_day.apply_settings(house.house.books, proposed.id, by="ann")
        await house.house.reload_settings()
        with pytest.raises(Refused, match="npm install"):  # RULES 1: who is no owner grants what an owner granted
            await settlement.answer(house.house.books, ask.id, "always", by="bob", shown=ask.shown_hash, capped=True)
        await settlement.answer(house.house.books, ask.id, "always", by="ann", shown=ask.shown_hash)
        await night
        assert [one.allowed for one in agent.told] == [True, True]
        assert len(await asks(house)) == 1
        (project,) = await house.house.records.find(ProjectRow)
        assert project.always_tools == ("Bash(npm install *)", "Bash(npm test *)")
        await by_day.take_back_tool(house.house.books, "sample", "Bash(npm test *)", by="ann")
        (project,) = await house.house.records.find(ProjectRow)
        assert project.always_tools == ("Bash(npm install *)",)
        with pytest.raises(Unknown, match="not always allowed"):
            await by_day.take_back_tool(house.house.books, "sample", "Bash(npm test *)", by="ann")
        await all_is_well(house)


@pytest.mark.parametrize("where", ["work", "project", "command"])
async def test_a_list_for_one_work_or_a_project_narrows_what_runs(tmp_path: Path, source: Path, where: str) -> None:
    """A13."""
    tools = ("Read", "Bash(npm test)")
    agent = Caller(("Bash", {"command": "npm test"}), ("Bash", {"command": "npm run build"}))
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await house.project(source)
        if where == "project":
            await by_day.change_project(house.house.books, "sample", by="ann", tools=tools)
        if where == "command":
            await commanded(house, Commanded(sentence="Look at it", projects=("sample",), tools=tools, yes=True))
        else:
            mine = tools if where == "work" else ()
            await house.begin(orders(work=(OrderedWork(project="sample", title="Look at it", tools=mine),)))
        night = asyncio.create_task(house.pass_time(hours=1))
        (ask,) = await opened(house)
        assert "npm run build" in ask.question
        await settlement.answer(house.house.books, ask.id, "no", by="ann")
        await night
        assert [one.allowed for one in agent.told] == [True, False]


async def test_a_yes_to_a_file_of_other_work_reaches_the_delivery(tmp_path: Path, source: Path) -> None:
    agent = Caller(("Write", {"file_path": "/ws/README.md", "content": "# New\n"}))
    agent.edits(write("README.md", "# New\n"))
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await house.project(source)
        mine = OrderedWork(project="sample", title="Look at it", paths=("sample/**",))
        other = OrderedWork(project="sample", title="Write about it", paths=("*.md",))
        await house.begin(orders(work=(mine, other)))
        night = asyncio.create_task(house.pass_time(minutes=40))
        (ask,) = await opened(house)
        assert "README.md" in ask.question
        await settlement.answer(house.house.books, ask.id, "yes", by="ann")
        await night
        (job, *_) = await house.house.records.find(JobRow)
        assert job.state is JobState.DONE, job.why
        assert [file.path for file in job.change.files] == ["README.md"] if job.change else False
        await all_is_well(house)


async def test_a_call_that_waits_stops_no_other_work(tmp_path: Path) -> None:
    """The other job is delivered while the first one's call is still held."""
    agent = Caller(INSTALL)
    async with a_house(
        tmp_path / "home", flags=LISTED, agents={"held": agent, "housekeeper": ScriptedAgent(_writes)}
    ) as house:
        for name in ("one", "two"):
            await house.project(sample_repository(tmp_path / name), name=name)
        work = (
            OrderedWork(project="one", title="Look at it", agent="held"),
            OrderedWork(project="two", title="Tidy up"),
        )
        await house.begin(orders(work=work, level=Level.FULL))
        night = asyncio.create_task(house.pass_time(hours=1))
        (ask,) = await opened(house)
        async with asyncio.timeout(PATIENCE):
            while not await house.house.records.find(PullRequestRow):
                await house.settle()  # what an engine with several workers does while the call is held
                await asyncio.sleep(0.02)
        assert [row.id for row in await asks(house, AskState.OPEN)] == [ask.id]
        await settlement.answer(house.house.books, ask.id, "no", by="ann")
        await night


async def test_a_no_is_remembered_word_for_word(tmp_path: Path, source: Path) -> None:
    agent = Caller(INSTALL, INSTALL)
    async with a_house(tmp_path / "home", flags=LISTED, agents={"housekeeper": agent}) as house:
        night, (ask,) = await held(house, source)
        await settlement.answer(house.house.books, ask.id, "no", by="ann")
        await night
        assert [one.allowed for one in agent.told] == [False, False]
        assert "do not ask for it again" in agent.told[1].why
        assert len(await asks(house)) == 1
        await all_is_well(house)


async def test_silence_at_the_deadline_is_a_no(tmp_path: Path, source: Path) -> None:
    agent = Caller(INSTALL)
    async with a_house(tmp_path / "home", flags=LISTED, agents={"housekeeper": agent}) as house:
        night, (ask,) = await held(house, source)
        assert ask.due_at is not None
        await house.tell()
        house.clock.jump_to(ask.due_at)
        await house.house.timers.serve_due()
        await night
        assert [(one.allowed, one.why) for one in agent.told] == [(False, "No answer in time, so it was denied.")]
        assert [row.state for row in await asks(house)] == [AskState.EXPIRED]
        await all_is_well(house)


async def test_the_same_call_twice_at_once_is_two_questions(tmp_path: Path, source: Path) -> None:
    agent = Caller(INSTALL, INSTALL, at_once=True)
    async with a_house(tmp_path / "home", flags=LISTED, agents={"housekeeper": agent}) as house:
        night, (first, second) = await held(house, source, 2)
        await settlement.answer(house.house.books, first.id, "yes", by="ann")
        await settlement.answer(house.house.books, second.id, "no", by="ann")
        await night
        assert sorted(one.allowed for one in agent.told) == [False, True]
        entries = await house.house.journal.entries(kinds=("tool_call.decided",))
        calls = [entry.event.call for entry in entries if isinstance(entry.event, ToolCallDecided)]
        assert sorted(calls) == sorted([*set(calls)] * 2), "each is asked and answered under its own name"
        await all_is_well(house)


async def test_after_a_restart_the_open_question_is_found_again(tmp_path: Path, source: Path) -> None:
    first, second = Caller(INSTALL), Caller(INSTALL)
    async with a_house(tmp_path / "home", flags=LISTED, agents={"housekeeper": first}) as house:
        night, (ask,) = await held(house, source)
        await killed(night)
        job = (await house.house.records.find(JobRow))[-1]
    soon = ask.created_at + timedelta(minutes=1)
    async with a_house(tmp_path / "home", begins=soon, flags=LISTED, agents={"housekeeper": second}) as house:
        again = asyncio.create_task(attempt.attempt_stage(house.house.night, job.id, Stage.EXECUTE, 1))
        await decided_times(house, 2)
        assert [row.id for row in await asks(house)] == [ask.id]
        await settlement.answer(house.house.books, ask.id, "yes", by="ann")
        await again
        assert [one.allowed for one in second.told] == [True]
        assert [row.id for row in await asks(house)] == [ask.id]
        await house.to_the_brief()
        await all_is_well(house)


async def decided_times(house: TestHouse, number: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while len(await decided(house)) < number:  # noqa: ASYNC110 - the night is another task
            await asyncio.sleep(0.02)


async def stop(house: TestHouse) -> None:
    job = (await house.house.records.find(JobRow))[-1]
    await steering.stop_job(house.house.books, house.house.workshop.rooms, job, by="ann", why="enough")


async def end(house: TestHouse) -> None:
    session = (await house.house.records.find(JobRow))[-1].session
    await settlement.debrief(house.house.books, session, "enough", actor="ann")


@pytest.mark.parametrize(("leave", "state"), [(stop, AskState.WITHDRAWN), (end, AskState.EXPIRED)])
async def test_what_nobody_waits_for_is_taken_back_and_the_agent_hears_no(
    tmp_path: Path, source: Path, leave: Callable[[TestHouse], Any], state: AskState
) -> None:
    agent = Caller(INSTALL)
    async with a_house(tmp_path / "home", flags=LISTED, agents={"housekeeper": agent}) as house:
        night, _ = await held(house, source)
        await leave(house)
        await night
        assert [one.allowed for one in agent.told] == [False]
        assert [row.state for row in await asks(house)] == [state]
        assert (await decided(house))[-1][0] == "deny"
        await house.to_the_brief()
        assert (await house.house.records.find(JobRow))[-1].state is JobState.STOPPED
        await all_is_well(house)


class Gone(Caller):
    """Ends while a call of its is held."""

    house: TestHouse

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(super().execute(assignment, plan))
            await opened(self.house)
            asking.cancel()
        raise Unavailable("It ended.")


async def test_a_question_of_an_agent_that_has_gone_is_taken_back(tmp_path: Path, source: Path) -> None:
    agent = Gone(INSTALL)
    async with a_house(tmp_path / "home", flags=LISTED, agents={"housekeeper": agent}) as house:
        agent.house = house
        await house.project(source)
        await house.begin(orders("Look at it"))
        await house.to_the_brief()
        assert {row.state for row in await asks(house)} == {AskState.WITHDRAWN}
        await all_is_well(house)


async def test_who_read_strangers_text_stays_tainted_across_a_restart(tmp_path: Path, source: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "midwatch.toml").write_text('[sandbox]\ndomains = ["docs.example.org"]\n')
    helper: Call = ("Task", {"prompt": "x"})
    first, second = Caller(helper, FETCH, helper, stays=True), Caller(helper, INSTALL)
    async with a_house(home, flags=LISTED, agents={"housekeeper": first}) as house:
        await house.project(source)
        await house.begin(orders("Look at it"))
        night = asyncio.create_task(house.pass_time(hours=1))
        async with asyncio.timeout(PATIENCE):
            await first.has_all.wait()  # a decision is in the journal before the agent has it
        await killed(night)
        job = (await house.house.records.find(JobRow))[-1]
        assert [one.allowed for one in first.told] == [True, True, True]
        entries = await house.house.journal.entries(kinds=("tool_call.decided",))
        assert [entry.event.taints for entry in entries if isinstance(entry.event, ToolCallDecided)] == [
            False,
            True,
            False,
        ]
    async with a_house(home, begins=LATER, flags=LISTED, agents={"housekeeper": second}) as house:
        await attempt.attempt_stage(house.house.night, job.id, Stage.EXECUTE, 1)
        assert [one.allowed for one in second.told] == [True, False]
        assert await asks(house) == ()
