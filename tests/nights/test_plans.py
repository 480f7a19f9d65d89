"""What becomes of a plan: sent back, mended, turned down, each version kept (A3, A4, SPEC 9)."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from midwatch.errors import Misuse, Refused, Unknown
from midwatch.journal.events.crew import ToolCallDecided
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.night.jobs.job_limits import taint_of
from midwatch.terms.asks import AskState, Silence
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.orders import OrderedWork
from midwatch.terms.records import AskRow, JobRow, PlanRow, PullRequestRow, StepRow
from tests.journal.samples import sample
from tests.nights.house import TestHouse, a_house, orders, sample_repository
from tests.nights.scripted import Edit, PlanningAgent, write
from tests.nights.test_first_night import all_is_well

GREET, OTHER = ("sample/greet.py",), ("sample/other.py",)


async def begun(tmp_path: Path, agent: PlanningAgent, **more: Any) -> AsyncIterator[TestHouse]:
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await house.project(source)
        await house.begin(orders("Tidy up", **more))
        await house.settle()
        yield house


async def fates(house: TestHouse) -> list[tuple[int, str, str]]:
    return [(row.version, row.fate, row.by) for row in await house.house.records.find(PlanRow)]


async def test_an_edit_goes_to_the_agent_and_restarts_the_clock(tmp_path: Path) -> None:
    """A4: the answer to the first plan is no answer to the second."""
    agent = PlanningAgent(write("sample/other.py", "x = 1\n"), GREET, OTHER)
    async for house in begun(tmp_path, agent):
        (first,) = await house.house.records.find(AskRow)
        assert first.options == ("approve", "edit", "reject")
        with pytest.raises(Misuse, match="Say what should change"):
            await settlement.answer(house.house.books, "1", "edit", by="ann")
        await house.pass_time(minutes=15)
        await settlement.answer(house.house.books, "1", "edit", by="ann", text="Leave the greeting alone.")
        await house.settle()
        _, second = await house.house.records.find(AskRow)
        assert second.due_at is not None
        assert second.due_at >= first.created_at + timedelta(minutes=35)
        with pytest.raises(Refused, match="is not the question that you were shown"):
            await settlement.answer(house.house.books, "2", "approve", by="ann", shown=first.shown_hash)
        (told,) = agent.told[1:]
        assert (told.wish, told.former_plan and told.former_plan.files) == ("Leave the greeting alone.", GREET)
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, job.plan_version, job.approved_by) == (JobState.DONE, 2, "silence")
        assert await fates(house) == [(1, "returned", "ann"), (2, "approved", "silence")]
        steps = [row.stage for row in await house.house.records.find(StepRow)]
        assert steps.count(Stage.PLAN) == steps.count(Stage.APPROVE) == 2
        assert len(await house.house.records.find(PullRequestRow)) == 1
        await all_is_well(house)


async def test_a_plan_outside_the_orders_goes_back_before_anybody_sees_it(tmp_path: Path) -> None:
    agent = PlanningAgent(write("sample/greet.py", "x = 1\n"), ("secrets/key.py",), GREET)
    async for house in begun(tmp_path, agent, do_not_touch=("secrets/**",)):
        (ask,) = await house.house.records.find(AskRow)
        assert "version 2" in ask.question
        assert "secrets/key.py" in agent.told[1].wish
        assert await fates(house) == [(1, "returned", "the orders"), (2, "open", "")]


async def test_an_agent_that_leaves_the_orders_again_waits_for_a_person(tmp_path: Path) -> None:
    agent = PlanningAgent(write("sample/greet.py", "x = 1\n"), ("secrets/key.py",))
    async for house in begun(tmp_path, agent, do_not_touch=("secrets/**",)):
        (ask,) = await house.house.records.find(AskRow)
        assert (ask.silence, ask.recommendation, ask.due_at) == (Silence.WAITS, "reject", None)
        assert "outside your orders" in ask.question


def _edits(*names: str) -> Edit:
    def edit(tree: Path) -> None:
        for name in names:
            (tree / name).write_text("# Changed\n")

    return edit


@pytest.mark.parametrize(
    ("changed", "by", "ended"),
    [
        (("README.md",), "ann", JobState.DONE),
        (("README.md", "check.py"), "ann", JobState.FAILED),
        (("README.md", "docs.md"), "ann", JobState.FAILED),
    ],
)
async def test_a_yes_to_a_file_outside_the_paths_lets_exactly_this_file_through(
    tmp_path: Path, changed: tuple[str, ...], by: str, ended: JobState
) -> None:
    """The yes is for the file that the plan names: not for others, not for a pattern, not for what is protected."""
    planned = ("sample/greet.py", "README.md", "docs*", "secrets/key.py")
    agent = PlanningAgent(_edits(*changed), planned)
    work = (OrderedWork(project="sample", title="Tidy up", paths=("sample/**",)),)
    async for house in begun(tmp_path, agent, work=work, do_not_touch=("secrets/**",)):
        (ask,) = await house.house.records.find(AskRow)
        assert "Your approval allows exactly README.md; everything else outside is refused." in ask.question
        await settlement.answer(house.house.books, "1", "approve", by=by)
        await house.to_the_brief()
        job = (await house.house.records.find(JobRow))[0]
        assert job.state is ended, job.why
        assert not job.why.count("README.md")
        if ended is JobState.FAILED:
            assert f"{changed[1]} is outside the allowed paths" in job.why
        await all_is_well(house)


async def test_a_yes_to_a_plan_of_a_run_that_read_strangers_text_opens_nothing(tmp_path: Path) -> None:
    agent = PlanningAgent(_edits("README.md"), ("sample/greet.py",), ("README.md",))
    work = (OrderedWork(project="sample", title="Tidy up", paths=("sample/**",)),)
    async for house in begun(tmp_path, agent, work=work):
        (job,) = await house.house.records.find(JobRow)
        await read_strangers_text(house, job.id)
        await settlement.answer(house.house.books, "1", "edit", by="ann", text="the README too")
        await house.settle()
        ask = (await house.house.records.find(AskRow, state=AskState.OPEN))[-1]
        assert "an approval opens nothing outside your orders" in ask.question
        await settlement.answer(house.house.books, ask.id, "approve", by="ann")
        await house.to_the_brief()
        job = await house.house.records.get(JobRow, job.id)
        assert (job.state, "README.md is outside the allowed paths" in job.why) == (JobState.FAILED, True)


async def test_a_rejection_ends_the_job_and_its_reason_reaches_the_next_agent(tmp_path: Path) -> None:
    agent = PlanningAgent(write("sample/greet.py", "x = 1\n"), GREET)
    async for house in begun(tmp_path, agent):
        await settlement.answer(house.house.books, "1", "reject", by="ann", text="The greeting is frozen.")
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.DECLINED
        await house.begin(orders("Tidy up"))
        await house.settle()
        assert [("The greeting is frozen." in said) for said in agent.told[-1].rejected] == [True]
        (rejected, _) = await house.house.records.find(PlanRow)
        assert rejected.fate == "rejected"


async def test_an_agent_that_reads_no_prose_takes_no_edits(tmp_path: Path) -> None:
    agent = PlanningAgent(write("sample/greet.py", "x = 1\n"), GREET)
    agent.amends = False
    async for house in begun(tmp_path, agent):
        (ask,) = await house.house.records.find(AskRow)
        with pytest.raises(Unknown, match="answer approve or reject"):
            await settlement.answer(house.house.books, "1", "edit", by="ann", text="otherwise")
        assert ask.state is AskState.OPEN


async def read_strangers_text(house: TestHouse, job: str) -> None:
    """As the decider writes it down when a call that fetches is let pass."""
    now = await house.house.records.get(JobRow, job)
    fetched = sample(ToolCallDecided, job=job, epoch=now.epoch, taints=True)
    await house.house.journal.record(fetched, key=taint_of(job))


async def test_a_plan_after_strangers_text_waits_for_a_person_and_so_does_one_that_takes_over(tmp_path: Path) -> None:
    """SPEC 9: silence approves only a run that is not tainted."""
    agent = PlanningAgent(write("sample/greet.py", "x = 1\n"), GREET)
    async for house in begun(tmp_path, agent):
        (first,) = await house.house.records.find(AskRow)
        assert first.silence is Silence.APPROVED
        await read_strangers_text(house, first.subject)
        await settlement.answer(house.house.books, "1", "edit", by="ann", text="Smaller.")
        await house.settle()
        _, second = await house.house.records.find(AskRow)
        assert (second.silence, second.due_at) == (Silence.WAITS, None)
        job = await house.house.records.get(JobRow, first.subject)
        await steering.stop_job(house.house.books, house.house.workshop.rooms, job, by="ann", why="another try")
        stopped = await house.house.records.get(JobRow, job.id)
        again = await steering.resume_job(house.house.books, stopped, by="ann")
        await house.settle()
        (third,) = await house.house.records.find(AskRow, subject=again.id)
        assert (third.state, third.silence, third.due_at) == (AskState.OPEN, Silence.WAITS, None)
        await all_is_well(house)


async def test_silence_does_not_approve_what_was_tainted_since_it_was_asked(tmp_path: Path) -> None:
    agent = PlanningAgent(write("sample/greet.py", "x = 1\n"), GREET)
    async for house in begun(tmp_path, agent):
        (ask,) = await house.house.records.find(AskRow)
        await read_strangers_text(house, ask.subject)
        await house.pass_time(minutes=40)
        (ask,) = await house.house.records.find(AskRow)
        assert (ask.state, ask.silence, ask.due_at) == (AskState.OPEN, Silence.WAITS, None)
        assert (await house.house.records.find(JobRow))[0].stage is Stage.APPROVE
        await all_is_well(house)
