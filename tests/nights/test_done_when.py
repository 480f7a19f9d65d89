"""`done_when`: what the orders name as done decides, for work with and without commits (RULES 10)."""

from pathlib import Path

import pytest

from midwatch.evening.orders_file import read_orders
from midwatch.terms.jobs import JobState
from midwatch.terms.orders import OrderedPart, OrderedWork
from midwatch.terms.records import JobRow, PullRequestRow, ReportRow, RunRow
from midwatch.terms.trust import Level
from midwatch.views.pages.orders_text import orders_text
from tests.nights.house import TestHouse, a_house, orders, sample_repository
from tests.nights.scripted import GOOD, ScriptedAgent, write
from tests.nights.test_delivered import TIDY, Idle
from tests.nights.test_first_night import all_is_well

TRUE_ALREADY = "grep -q Hello sample/greet.py"
NOT_YET = "grep -q Welcome sample/greet.py"
WELCOME = write("sample/greet.py", 'def greet(name):\n    return "Hello, and Welcome, " + name\n')


async def a_night(house: TestHouse, source: Path, *conditions: str, agent: str = "scripted") -> JobRow:
    await house.project(source, checks=("test -f sample/greet.py",))
    work = (OrderedWork(project="sample", title="Greet", agent=agent, done_when=conditions),)
    await house.begin(orders(level=Level.FULL, work=work))
    await house.to_the_brief()
    await all_is_well(house)
    return (await house.house.records.find(JobRow))[-1]


@pytest.mark.parametrize("agent", [Idle("sample/greet.py"), Idle()], ids=["no commits", "a plan without files"])
async def test_what_is_true_already_needs_no_change(tmp_path: Path, database_url: str, agent: Idle) -> None:
    async with a_house(tmp_path / "home", database_url, agents={"scripted": agent}) as house:
        job = await a_night(house, sample_repository(tmp_path / "sample", TIDY), TRUE_ALREADY)
        assert job.state is JobState.DONE, job.why
        (report,) = await house.house.records.find(ReportRow)
        assert report.brief.headline == "Night 1: 0 of 1 delivered as pull requests; 1 needed no change."
        assert f"`{TRUE_ALREADY}` passes already" in report.recommendations[-1].text


@pytest.mark.parametrize("agent", ["scripted", "housekeeper"])
async def test_what_is_not_true_is_not_done_whatever_the_agent_says(tmp_path: Path, agent: str) -> None:
    """Also the housekeeper's survey of tidy files does not make it done."""
    agents = {"scripted": Idle("sample/greet.py")} if agent == "scripted" else None
    async with a_house(tmp_path / "home", agents=agents) as house:
        source = sample_repository(tmp_path / "sample", TIDY)
        job = await a_night(house, source, TRUE_ALREADY, NOT_YET, agent=agent)
        assert job.state is JobState.NOTHING_DELIVERED
        assert f"does not pass without a change: `{NOT_YET}`." in job.why
        assert TRUE_ALREADY not in job.why


async def test_a_red_check_keeps_work_from_being_called_unneeded(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home", agents={"scripted": Idle("sample/greet.py")}) as house:
        source = sample_repository(tmp_path / "sample", TIDY)
        await house.project(source, checks=("test -f missing.txt",))
        work = (OrderedWork(project="sample", title="Greet", agent="scripted", done_when=(TRUE_ALREADY,)),)
        await house.begin(orders(level=Level.FULL, work=work))
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.NOTHING_DELIVERED
        assert "`test -f missing.txt`" in job.why


async def test_work_that_does_not_reach_it_is_repaired_and_then_only_a_draft(tmp_path: Path) -> None:
    agent = ScriptedAgent(GOOD)
    flags = {"execution.deliver_red": "draft"}
    async with a_house(tmp_path / "home", agents={"scripted": agent}, flags=flags) as house:
        job = await a_night(house, sample_repository(tmp_path / "sample", TIDY), NOT_YET)
        assert agent.repairs > 0
        assert job.proof is not None
        assert job.proof.verdict == "not_done"
        (request,) = await house.house.records.find(PullRequestRow)
        assert request.draft
        assert "Only a draft" in request.body
        assert f"`{NOT_YET}` still fails" in request.body


async def test_a_repair_that_reaches_it_is_delivered(tmp_path: Path, database_url: str) -> None:
    agent = ScriptedAgent(GOOD, repair=WELCOME)
    async with a_house(tmp_path / "home", database_url, agents={"scripted": agent}) as house:
        job = await a_night(house, sample_repository(tmp_path / "sample", TIDY), NOT_YET)
        assert agent.repairs == 1
        assert job.proof is not None
        assert job.proof.verdict == "green"
        (request,) = await house.house.records.find(PullRequestRow)
        assert not request.draft


async def test_each_of_several_repositories_has_its_own(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home", agents={"scripted": Idle("sample/greet.py")}) as house:
        for name in ("api", "web"):
            await house.project(sample_repository(tmp_path / name, TIDY), name=name, checks=("true",))
        parts = (OrderedPart(project="web", done_when=(NOT_YET,)),)
        work = OrderedWork(
            projects=("api", "web"), title="Greet", agent="scripted", done_when=(TRUE_ALREADY,), parts=parts
        )
        await house.begin(orders(level=Level.FULL, work=(work,)))
        await house.to_the_brief()
        await all_is_well(house)
        states = {one.state for one in await house.house.records.find(JobRow)}
        assert states == {JobState.DONE, JobState.NOTHING_DELIVERED}
        (run, *_) = await house.house.records.find(RunRow)
        assert [part.done_when for part in run.contract.parts] == [(TRUE_ALREADY,), (NOT_YET,)]


def test_it_is_written_back_as_it_was_ordered() -> None:
    work = OrderedWork(
        projects=("api", "web"),
        title="Greet",
        done_when=("make a",),
        parts=(OrderedPart(project="web", done_when=("make b",)),),
    )
    ordered = orders(work=(work,))
    assert read_orders(orders_text(ordered)).work == ordered.work
    assert "done_when" not in OrderedWork(project="api", title="Greet").model_dump()
