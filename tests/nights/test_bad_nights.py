"""Nights on which something goes wrong: the house stays honest and nothing forbidden leaves it."""

from pathlib import Path
from typing import Any

import pytest

from midwatch.evening.projects import flag_project
from midwatch.terms.jobs import JobState
from midwatch.terms.projects import Flag, WorkStatus
from midwatch.terms.records import ActRow, InvocationRow, JobRow, NoticeRow, PullRequestRow, ReportRow, WorkRow
from midwatch.terms.trust import Level
from tests.nights.house import CHECK, ONE_TRY, TestHouse, a_house, git, orders, sample_repository
from tests.nights.scripted import GOOD, BuggyAgent, FailingAgent, ScriptedAgent, write
from tests.nights.test_first_night import all_is_well

BREAK = write("sample/greet.py", "def greet(name):\n    return 'Good bye ' + name\n")


async def a_night(house: TestHouse, source: Path, **more: Any) -> JobRow:
    await house.project(source)
    await house.begin(orders("Tidy up", level=Level.MODERATE, **more))
    await house.to_the_brief()
    await all_is_well(house)
    return (await house.house.records.find(JobRow))[-1]


async def test_work_that_breaks_the_checks_is_repaired_three_times_and_not_delivered(tmp_path: Path) -> None:
    """A7, X8, X9."""
    source = sample_repository(tmp_path / "sample")
    agent = ScriptedAgent(BREAK)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}, flags=ONE_TRY) as house:
        job = await a_night(house, source)
        assert agent.repairs == 3
        assert (job.state, job.repairs) == (JobState.FAILED, 3)
        assert await house.house.records.find(PullRequestRow) == ()
        (report,) = await house.house.records.find(ReportRow)
        assert "failed" in report.brief.headline
        (item,) = await house.house.records.find(WorkRow)
        assert item.status is WorkStatus.BLOCKED
        told = [row.text for row in await house.house.records.find(NoticeRow)]
        assert any("its checks are running" in text for text in told)
        assert not [text for text in told if "pushed" in text], "nothing was"
    assert "agent/" not in git(source, "branch", "-a")


async def test_a_repair_that_works_is_delivered(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    agent = ScriptedAgent(BREAK, repair=GOOD)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        job = await a_night(house, source)
        assert (job.state, job.repairs) == (JobState.DONE, 1)
        assert len(await house.house.records.find(PullRequestRow)) == 1


async def test_an_agent_that_edits_the_check_to_pass_is_reported_red(tmp_path: Path) -> None:
    """X8: checks run again with the base's own check files."""
    files = {
        "sample/__init__.py": "",
        "sample/greet.py": 'def greet(name):\n    return "Hello " + name\n',
        "tests/test_greet.py": 'from sample.greet import greet\nassert greet("Ann") == "Hello Ann"\n',
    }
    source = sample_repository(tmp_path / "sample", files)

    def cheat(checkout: Path) -> None:
        BREAK(checkout)
        (checkout / "tests/test_greet.py").write_text("")

    agent = ScriptedAgent(cheat)
    flags = ONE_TRY | {"execution.repair_rounds": 1}
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}, flags=flags) as house:
        await house.project(source, checks=("PYTHONPATH=. python3 tests/test_greet.py",))
        await house.begin(orders("Tidy up", level=Level.MODERATE))
        await house.to_the_brief()
        job = (await house.house.records.find(JobRow))[-1]
        assert job.proof is not None
        assert job.proof.verdict == "red_when_restored"
        assert job.state is JobState.FAILED
        await all_is_well(house)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (write("secret/key.txt", "x"), "secret/key.txt"),
        (write("docs/out.md", "x"), "docs/out.md"),
    ],
    ids=["do not touch", "outside the paths"],
)
async def test_work_outside_the_orders_is_stopped_by_the_quarantine(tmp_path: Path, edit: object, said: str) -> None:
    """N19."""
    source = sample_repository(tmp_path / "sample")
    agent = ScriptedAgent(edit)  # type: ignore[arg-type]
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}, flags=ONE_TRY) as house:
        await house.project(source)
        signed = orders(
            level=Level.FULL,
            work=({"project": "sample", "title": "Tidy up", "paths": ("sample/**", "secret/**")},),
            do_not_touch=("secret/**",),
        )
        await house.begin(signed)
        await house.to_the_brief()
        job = (await house.house.records.find(JobRow))[-1]
        assert job.state is JobState.FAILED
        assert said in job.why
        assert await house.house.records.find(InvocationRow) == ()
        await all_is_well(house)
    assert "agent/" not in git(source, "branch", "-a")


async def test_orders_without_pull_requests_deliver_none(tmp_path: Path) -> None:
    """SPEC 8: an external effect happens only if the orders name it."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home", agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        job = await a_night(house, source, permissions={"external": (), "silence_approves": True})
        assert job.state is JobState.FAILED
        (denied,) = await house.house.records.find(InvocationRow, job=job.id)
        assert denied.status == "denied"
    assert "agent/" not in git(source, "branch", "-a")


async def test_a_passing_trouble_is_tried_again_and_the_night_goes_well(tmp_path: Path) -> None:
    """O8."""
    source = sample_repository(tmp_path / "sample")
    agent = FailingAgent(times=2)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        job = await a_night(house, source)
        assert agent.tries == 3
        assert job.stumbles == 2
        assert job.state is JobState.DONE


@pytest.mark.parametrize("agent", [FailingAgent(), BuggyAgent()], ids=["trouble that stays", "a bug"])
async def test_trouble_that_stays_ends_in_an_honest_brief(tmp_path: Path, agent: ScriptedAgent) -> None:
    """O8, X4, X9: three tries, then a person is told; nothing is left hanging."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        job = await a_night(house, source)
        assert job.state is JobState.FAILED
        jobs = await house.house.records.find(JobRow)
        assert len(jobs) <= 3
        (report,) = await house.house.records.find(ReportRow)
        assert "failed" in report.brief.headline
        assert report.recommendations[0].text.startswith("Look into job")


@pytest.mark.parametrize("flag", [Flag.BLOCKED, Flag.PROTECTED, Flag.SKIPPED])
async def test_a_flagged_project_is_left_alone(tmp_path: Path, flag: Flag) -> None:
    """O2."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home") as house:
        await house.project(source)
        await flag_project(house.house.books, "sample", flag, on=True, by="ann")
        await house.begin(orders("Tidy up", level=Level.FULL, limits={"minutes": 45}))
        await house.to_the_brief()
        assert await house.house.records.find(JobRow) == ()
        assert {act.state for act in await house.house.records.find(ActRow, kind="start")} == {"refused"}
        await all_is_well(house)


async def test_a_broken_check_command_is_no_worse_than_before(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home", agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        await house.project(source, checks=("no-such-command-here", CHECK))
        await house.begin(orders("Tidy up", level=Level.MODERATE))
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert job.proof is not None
        assert job.proof.verdict == "still_red"
        assert len(await house.house.records.find(PullRequestRow)) == 1
        await all_is_well(house)
