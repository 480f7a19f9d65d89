"""Done means delivered and proven, or shown to be unneeded (RULES 10, X8)."""

from pathlib import Path

import pytest

from midwatch.ports.agent import Task
from midwatch.terms.jobs import Done, JobState, Plan
from midwatch.terms.orders import OrderedWork
from midwatch.terms.projects import WorkStatus
from midwatch.terms.records import EvidenceRow, JobRow, NoticeRow, PullRequestRow, ReportRow, RunRow, WorkRow
from midwatch.terms.trust import Level
from tests.nights.house import FAULTS, TestHouse, a_house, git, orders, sample_repository
from tests.nights.scripted import GOOD, ScriptedAgent, write
from tests.nights.test_first_night import all_is_well

TIDY = {"check.py": "assert True\n", "sample/greet.py": 'def greet(name):\n    return "Hello " + name\n'}
BREAK = write("sample/greet.py", "def greet(name):\n    return 'Good bye ' + name\n")


class Idle(ScriptedAgent):
    """Says that all is well and commits nothing; with no files it stops at its plan."""

    def __init__(self, *files: str) -> None:
        super().__init__(GOOD, files=files)

    async def execute(self, assignment: Task, plan: Plan) -> Done:  # noqa: ARG002  a role
        return Done(summary="Everything is in order.", base="", head="")


async def a_night(house: TestHouse, source: Path, agent: str = "scripted") -> JobRow:
    await house.project(source)
    work = (OrderedWork(project="sample", title="Fix the greeting", agent=agent),)
    await house.begin(orders(level=Level.FULL, work=work))
    await house.to_the_brief()
    await all_is_well(house)
    return (await house.house.records.find(JobRow))[-1]


@pytest.mark.parametrize("agent", [Idle("sample/greet.py"), Idle()], ids=["no commits", "a plan without files"])
async def test_an_agent_that_leaves_nothing_behind_has_not_done_its_work(
    tmp_path: Path, database_url: str, agent: Idle
) -> None:
    async with a_house(tmp_path / "home", database_url, agents={"scripted": agent}) as house:
        job = await a_night(house, sample_repository(tmp_path / "sample"))
        find = house.house.records.find
        assert (job.state.value, job.state.over) == ("nothing_delivered", True)
        (item,), (run,), (report,) = await find(WorkRow), await find(RunRow), await find(ReportRow)
        assert (item.status, item.owner) == (WorkStatus.BLOCKED, "human")
        assert run.status == "nothing_delivered"
        assert "0 of 1 delivered" in report.brief.headline
        completed = next(one for one in report.brief.sections if "sample: Fix the greeting" in " ".join(one.lines))
        assert "nothing delivered" in " ".join(completed.lines)
        first = report.recommendations[0]
        assert (first.work_item, first.became) == (job.work_item, "nothing_delivered")
        assert any("delivered nothing" in one.text for one in await find(NoticeRow))


async def test_work_that_its_repairs_take_back_is_not_done(tmp_path: Path) -> None:
    agent = ScriptedAgent(BREAK)

    async def undone(assignment: Task, base: str, failure: str) -> Done:  # noqa: ARG001  a role
        git(assignment.room.tree, "reset", "-q", "--hard", base)
        return Done(summary="Took it back.", base=base, head=base)

    agent.repair = undone  # type: ignore[method-assign]
    async with a_house(tmp_path / "home", agents={"scripted": agent}) as house:
        job = await a_night(house, sample_repository(tmp_path / "sample"))
        assert job.state.value == "nothing_delivered"
        assert await house.house.records.find(PullRequestRow) == ()


async def test_a_housekeeper_that_shows_that_all_is_tidy_is_done(tmp_path: Path) -> None:
    """It says what it looked at, and the rule confirms it: that is evidence."""
    async with a_house(tmp_path / "home") as house:
        job = await a_night(house, sample_repository(tmp_path / "sample", TIDY), "housekeeper")
        find = house.house.records.find
        assert job.state is JobState.DONE
        (item,), (report,) = await find(WorkRow), await find(ReportRow)
        assert item.status is WorkStatus.DONE
        assert report.brief.headline == "Night 1: 0 of 1 delivered as pull requests; 1 needed no change."
        (shown,) = await find(EvidenceRow)
        assert "2 files" in shown.citation
        assert report.recommendations[-1].became == "unneeded"


async def test_a_housekeeper_that_may_not_fix_what_it_found_is_not_done(tmp_path: Path) -> None:
    """Two files need work, and the orders allow one line: to find nothing to do is not to find nothing."""
    files = FAULTS | {"sample/greet.py": "import os\nimport sys\n\n\n\nX = 1   \nY = 2   \n"}
    async with a_house(tmp_path / "home", flags={"execution.max_diff_lines": 1}) as house:
        job = await a_night(house, sample_repository(tmp_path / "sample", files), "housekeeper")
        assert job.state.value == "nothing_delivered", job.why
