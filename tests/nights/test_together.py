"""One piece of work in several repositories: one contract, several jobs, pull requests that name each other (X16)."""

from pathlib import Path
from typing import Any

import pytest

from midwatch.evening import projects as by_day
from midwatch.evening.orders_file import read_orders
from midwatch.evening.shown_sheet import orders_hash
from midwatch.journal.events.jobs import PullRequestReworded
from midwatch.ports.agent import Task
from midwatch.rules.gate.contract import part_of
from midwatch.terms.jobs import Done, JobState, Plan
from midwatch.terms.orders import OrderedWork, Orders
from midwatch.terms.projects import Flag
from midwatch.terms.records import JobRow, MissionRow, PullRequestRow, ReportRow, RunRow
from midwatch.terms.trust import Level
from midwatch.views.pages.orders_text import orders_text
from tests.nights.house import CHECK, ONE_TRY, TestHouse, a_house, sample_repository
from tests.nights.scripted import ScriptedAgent, write
from tests.nights.test_first_night import all_is_well

BOTH = """\
level = "full"
goals = ["One name for one thing"]
permissions.silence_approves = true
[[work]]
projects = ["api", "web"]
title = "Rename the field"
agent = "scripted"
[[work.parts]]
project = "web"
paths = ["sample/**"]
checks = ["true"]
"""
THREE_EACH = BOTH.replace('agent = "scripted"', 'agent = "scripted"\nusd = 3') + "[limits]\nusd = 50\n"


class Attentive(ScriptedAgent):
    """Remembers what it was told about its siblings; fails where it is to."""

    def __init__(self, fails_in: str = "") -> None:
        super().__init__(write("sample/new.py", "NAME = 1\n"), files=("sample/new.py",))
        self.told: dict[str, tuple[str, ...]] = {}
        self._fails_in = fails_in

    async def plan(self, assignment: Task) -> Plan:
        self.told[assignment.facts.project.name] = assignment.facts.together
        return await super().plan(assignment)

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        if assignment.facts.project.name == self._fails_in:
            return self._commit(assignment.room.tree, write("check.py", "raise SystemExit(1)\n"))
        return await super().execute(assignment, plan)


async def night_of(house: TestHouse, tmp_path: Path, orders: Orders) -> None:
    for name in ("api", "web"):
        await house.project(sample_repository(tmp_path / name), name=name)
    await house.begin(orders)
    await house.to_the_brief()
    await house.settle()


async def test_two_repositories_get_one_run_and_pull_requests_that_name_each_other(
    tmp_path: Path, database_url: str
) -> None:
    agent = Attentive()
    async with a_house(tmp_path / "home", database_url, agents={"scripted": agent}) as house:
        await night_of(house, tmp_path, read_orders(BOTH))
        find = house.house.records.find
        (run,), (mission,) = await find(RunRow), await find(MissionRow)
        jobs = await find(JobRow)
        assert [(job.run, job.state) for job in jobs] == [(run.id, JobState.DONE)] * 2
        assert (run.status, mission.title) == ("completed", "Rename the field")
        assert set(mission.work_items) == {job.work_item for job in jobs}
        assert [part.paths for part in run.contract.parts] == [(), ("sample/**",)]
        pulls = {pull.project: pull for pull in await find(PullRequestRow)}
        api, web = (pulls[job.project] for job in jobs)
        assert f"- web: pull request {web.number}, Edit something ({web.branch})" in api.body
        assert f"- api: pull request {api.number}, Edit something ({api.branch})" in web.body
        assert all(pull.body.rstrip().splitlines()[-1].startswith("Midwatch-Job:") for pull in (api, web))
        assert agent.told["web"], "each hears of the other"
        (report,) = await find(ReportRow)
        assert report.brief.headline == "Night 1: 1 of 1 delivered as pull requests."
        completed = next(one for one in report.brief.sections if "api" in " ".join(one.lines))
        assert any("api done." in line and "web done." in line for line in completed.lines)
        await all_is_well(house)


async def test_what_fails_in_one_repository_is_said_in_the_other_ones_pull_request(tmp_path: Path) -> None:
    agents, flags = {"scripted": Attentive(fails_in="api")}, ONE_TRY | {"execution.repair_rounds": 1}
    async with a_house(tmp_path / "home", agents=agents, flags=flags) as house:
        await night_of(house, tmp_path, read_orders(BOTH))
        find = house.house.records.find
        (pull,) = await find(PullRequestRow)
        assert "Its counterpart in api failed: review before merging this alone." in pull.body
        first = (await find(RunRow))[0]
        assert first.status == "partial"
        assert "api: " in first.summary
        (report,) = await find(ReportRow)
        assert "0 of 1 delivered" in report.brief.headline
        await all_is_well(house)


async def test_a_part_that_never_began_ends_with_its_night(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home", agents={"scripted": Attentive()}) as house:
        for name in ("api", "web"):
            await house.project(sample_repository(tmp_path / name), name=name)
        await by_day.flag_project(house.house.books, "web", Flag.BLOCKED, by="ann", on=True)
        await house.begin(read_orders(BOTH))
        await house.to_the_brief()
        await house.settle()
        (run,) = await house.house.records.find(RunRow)
        assert (run.status, "web: not started" in run.summary) == ("partial", True)
        (pull,) = await house.house.records.find(PullRequestRow)
        assert "- web: not ready yet" in pull.body
        assert len(await house.house.records.find(ReportRow)) == 1
        await all_is_well(house)


async def test_each_part_has_its_own_checks_and_an_equal_share(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home", agents={"scripted": Attentive()}) as house:
        await night_of(house, tmp_path, read_orders(THREE_EACH))
        (run,) = await house.house.records.find(RunRow)
        api, web = (part_of(run.contract, part.project_id) for part in run.contract.parts)
        assert run.contract.constraints.max_usd_micros == 6_000_000
        assert [one.constraints.max_usd_micros for one in (api, web)] == [3_000_000] * 2
        assert (api.checks, web.checks) == ((CHECK,), ("true", CHECK))
        assert web.constraints.tool_policy.scopes["repo_write_pr"].allowed_paths == ("sample/**",)
        reworded = [
            entry.event
            for entry in await house.house.journal.entries(kinds=("pull_request.reworded",))
            if isinstance(entry.event, PullRequestReworded)
        ]
        assert len(reworded) == 1, "only who came first is told anew"


@pytest.mark.parametrize(
    ("work", "said"),
    [
        ({"title": "x"}, "name either 'project' or 'projects'"),
        ({"title": "x", "project": "a", "projects": ["b"]}, "name either 'project' or 'projects'"),
        ({"title": "x", "projects": ["a", "a"]}, "a project is named twice"),
        ({"title": "x", "projects": ["a", "b"], "parts": [{"project": "c"}]}, "each of 'parts' is for one of"),
        ({"title": "x", "project": "a", "parts": [{"project": "a"}]}, "each of 'parts' is for one of"),
    ],
)
def test_work_names_one_project_or_several_and_never_both(work: dict[str, Any], said: str) -> None:
    assert said in OrderedWork.model_validate(work).fault


def test_orders_signed_before_there_were_several_keep_their_hash_and_all_are_written_back_alike() -> None:
    one = Orders(level=Level.CAUTIOUS, work=(OrderedWork(project="a", title="x"),))
    assert set(one.work[0].model_dump(mode="json")) == {"project", "title", "checks", "paths", "agent"}
    several = read_orders(BOTH)
    again = read_orders(orders_text(several))
    assert orders_hash(again) == orders_hash(several)
    assert again.work == several.work
