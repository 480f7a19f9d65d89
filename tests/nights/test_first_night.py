"""Whole nights from the signed orders to the brief, on both databases."""

import os
from collections import defaultdict
from datetime import timedelta
from pathlib import Path

import pytest

from midwatch.errors import Refused
from midwatch.evening import sign_orders
from midwatch.store.rebuild import audit
from midwatch.surfaces.queries.audit import violations
from midwatch.surfaces.queries.replay import every_entry
from midwatch.surfaces.queries.status import status
from midwatch.terms.acts import ActKind
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import JobState
from midwatch.terms.projects import SessionState, WorkStatus
from midwatch.terms.records import (
    ActRow,
    AskRow,
    CheckInRow,
    EvidenceRow,
    JobRow,
    NoticeRow,
    PullRequestRow,
    ReportRow,
    RunRow,
    SessionRow,
    WorkRow,
)
from midwatch.terms.trust import Level
from tests.nights.house import TestHouse, a_house, git, orders, sample_repository
from tests.nights.scripted import a_scripted_house

REBUILT: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
"""The kinds of entries that a file's nights were rebuilt with, on each kind of database."""


async def all_is_well(house: TestHouse) -> None:
    """What must hold after every end-to-end test; records are rebuilt once a file, and again for each new kind."""
    assert await violations(house.house) == ()
    file, _, _ = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")
    rebuilt = REBUILT[file, house.house.url.partition(":")[0]]
    kinds = {entry.event.kind for entry in await every_entry(house.house)}
    if not kinds <= rebuilt:
        found = audit(house.house.url)
        assert (found.broken, found.differs) == ("", ())
        rebuilt |= kinds


def everything_but_agent_refs(source: Path) -> tuple[str, ...]:
    refs = git(source, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    others = [ref for ref in refs if not ref.startswith("refs/heads/agent/")]
    return (*others, git(source, "status", "--porcelain"), git(source, "symbolic-ref", "HEAD"))


async def test_a_fresh_install_at_cautious_delivers_a_pull_request_the_first_night(
    tmp_path: Path, database_url: str
) -> None:
    """A2, A3, A4, A7, A8, N13, N15, X8."""
    source = sample_repository(tmp_path / "sample")
    (source / "scratch.txt").write_text("not committed\n")
    before = everything_but_agent_refs(source)
    async with a_house(tmp_path / "home", database_url) as house:
        await house.project(source)
        await house.begin(orders("Tidy up", level=Level.CAUTIOUS))
        session = await house.to_the_brief()
        records = house.house.records
        assert session.state is SessionState.DEBRIEF
        assert session.reason == "everything ordered is settled"
        (job,) = await records.find(JobRow)
        assert (job.state, job.approved_by) == (JobState.DONE, "silence")
        assert job.proof is not None
        assert job.proof.verdict == "green"
        (pr,) = await records.find(PullRequestRow)
        assert pr.branch == f"agent/{job.id}"
        assert git(source, "rev-parse", pr.branch) == pr.head
        (report,) = await records.find(ReportRow)
        assert report.brief.words <= 400
        assert "1 of 1 delivered" in report.brief.headline
        assert "scratch.txt" in str(report.brief)
        assert [one.text.split()[0] for one in report.recommendations] == ["Merge", "Look"]
        (run,) = await records.find(RunRow)
        assert run.score_pre is not None
        assert 0.5 < run.score_pre <= 1
        (item,) = await records.find(WorkRow)
        assert (item.status, item.owner) == (WorkStatus.IN_PROGRESS, "human")
        assert {row.kind.value for row in await records.find(EvidenceRow)} == {"benchmark", "repo"}
        await all_is_well(house)
    assert everything_but_agent_refs(source) == before


async def test_at_observe_there_is_nothing_but_words(tmp_path: Path, database_url: str) -> None:
    """O4: proposals are judged and said, nothing is touched."""
    source = sample_repository(tmp_path / "sample")
    refs = git(source, "for-each-ref")
    async with a_house(tmp_path / "home", database_url) as house:
        await house.project(source)
        await house.begin(orders("Tidy up", level=Level.OBSERVE))
        await house.to_the_brief()
        records = house.house.records
        assert await records.find(JobRow) == ()
        said = [act for act in await records.find(ActRow) if act.kind == ActKind.START]
        assert [act.state for act in said] == ["said"]
        assert any("Would start" in row.text for row in await records.find(NoticeRow))
        (report,) = await records.find(ReportRow)
        assert "nothing was changed" in report.brief.headline
        await all_is_well(house)
    assert git(source, "for-each-ref") == refs
    assert not (tmp_path / "home" / "checkouts").exists()


async def test_at_full_a_plan_inside_its_scopes_waits_for_nobody(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home") as house:
        await house.project(source)
        began = house.clock.now()
        await house.begin(orders("Tidy up", level=Level.FULL))
        session = await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert job.approved_by == "level full"
        assert session.debrief_at is not None
        assert (session.debrief_at - began).total_seconds() < 60
        assert await house.house.records.find(AskRow) == ()
        await all_is_well(house)


async def test_a_plan_nobody_may_approve_by_silence_waits_until_the_night_is_over(tmp_path: Path) -> None:
    """X6, S8: the ask says so, the time limit ends the night, the brief asks for the decision."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home") as house:
        await house.project(source)
        careful = orders("Tidy up", permissions={"silence_approves": False}, limits={"minutes": 60})
        await house.begin(careful)
        await house.pass_time(minutes=59)
        (ask,) = await house.house.records.find(AskRow)
        assert (ask.state, ask.due_at) == (AskState.OPEN, None)
        await house.pass_time(minutes=2)
        session = (await house.house.records.find(SessionRow))[0]
        assert session.reason == "the night's time is used up"
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.STOPPED
        (report,) = await house.house.records.find(ReportRow)
        assert "0 of 1" in report.brief.headline
        await all_is_well(house)


async def test_two_orders_for_one_project_are_done_one_after_the_other(tmp_path: Path) -> None:
    """SPEC 9: one job per project; the second starts when the first is over and the cooldown has passed."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        await house.begin(orders("First", "Second", level=Level.MODERATE))
        await house.to_the_brief()
        first, second = await house.house.records.find(JobRow)
        assert first.ended_at is not None
        assert second.started_at is not None
        assert second.started_at >= first.ended_at
        assert [job.state for job in (first, second)] == [JobState.DONE, JobState.DONE]
        await all_is_well(house)


async def test_a_second_night_cannot_begin_while_one_is_under_way(tmp_path: Path) -> None:
    """S11."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        await house.begin(orders("Tidy up"))
        with pytest.raises(Refused, match="under way"):
            await sign_orders.draft(house.house.evening, orders("Again"), by="ann")
        await house.to_the_brief()
        await house.begin(orders("Again"))
        first, second = await house.house.records.find(SessionRow)
        assert (first.state, second.state) == (SessionState.ENDED, SessionState.AUTONOMOUS)
        await all_is_well(house)


async def test_two_quick_orders_for_one_project_are_both_done_without_money(tmp_path: Path) -> None:
    """A cooldown is no spin, and an empty budget ends no night: the second waits ten minutes, then is done."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        await house.begin(orders("First", "Second", level=Level.FULL, limits={"usd": 0, "tokens": 0}))
        await house.settle()
        night = (await status(house.house)).night
        assert night is not None
        assert night.waits_for.startswith("Something began in project sample less than 10 minutes ago.")
        checks = await house.house.records.find(CheckInRow)
        assert f"1 of 2 done, 1 not done yet. Nothing is at work. {night.waits_for}" in [one.text for one in checks]
        session = await house.to_the_brief()
        assert session.reason == "everything ordered is settled"
        assert [job.state for job in await house.house.records.find(JobRow)] == [JobState.DONE, JobState.DONE]
        await all_is_well(house)


async def test_work_begins_when_its_cooldown_is_over_and_not_a_round_later(tmp_path: Path) -> None:
    """A cooldown ends between two rounds: the next one is due then."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home", flags={"rounds.interval_seconds": 420}) as house:
        await house.project(source)
        await house.begin(orders("First", "Second", level=Level.FULL))
        await house.to_the_brief()
        first, second = await house.house.records.find(JobRow)
        assert (second.created_at - first.created_at) // timedelta(minutes=1) == 10
        await all_is_well(house)


async def test_what_only_has_to_wait_is_no_decision_to_report(tmp_path: Path) -> None:
    """RULES 5: a check-in is due after so many decisions; work that its project's cooldown holds back is none."""
    source = sample_repository(tmp_path / "sample")
    flags = {"rounds.interval_seconds": 60, "checkins.every_decisions": 3}
    async with a_scripted_house(tmp_path / "home", flags=flags) as house:
        await house.project(source)
        await house.begin(orders("First", "Second", level=Level.FULL))
        await house.to_the_brief()
        refused = [act for act in await house.house.records.find(ActRow) if act.code == "gate.cooldown_project"]
        assert len(refused) > 3
        assert "decisions" not in " ".join(row.trigger for row in await house.house.records.find(CheckInRow))
        await all_is_well(house)


async def test_what_only_had_to_wait_is_no_risk_in_the_brief(tmp_path: Path) -> None:
    """B11: out of time while the project rests, the second work is not started, which its recommendation says."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        await house.begin(orders("First", "Second", level=Level.FULL, limits={"minutes": 5}))
        await house.to_the_brief()
        (report,) = await house.house.records.find(ReportRow)
        lines = {one.title: one.lines for one in report.brief.sections}
        assert "Second was not started. Something began in project sample" in lines["Recommendations"][0]
        assert lines["Risks and unknowns"] == ("None.",)
        await all_is_well(house)
