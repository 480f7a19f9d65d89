"""What a person does while the night runs, and in the morning."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from midwatch.errors import Misuse, Refused, Stale, Unknown
from midwatch.evening.projects import set_level
from midwatch.morning import pull_requests, review
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.ports.agent import Task
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import JobState, Plan
from midwatch.terms.projects import SessionState, WorkStatus
from midwatch.terms.records import (
    AskRow,
    CheckInRow,
    EvaluationRow,
    JobRow,
    OutcomeRow,
    PullRequestRow,
    ReportRow,
    RoundRow,
    RunRow,
    SessionRow,
    StandingRow,
    WorkRow,
)
from midwatch.terms.report import FlagKind, Given, Review, ReviewOutcome
from midwatch.terms.trust import Level
from tests.nights.house import TestHouse, a_house, git, orders, sample_repository
from tests.nights.scripted import ScriptedAgent, a_scripted_house
from tests.nights.test_first_night import all_is_well


async def begun(house: TestHouse, source: Path, **more: Any) -> SessionRow:
    await house.project(source)
    session = await house.begin(orders("Tidy up", **more))
    await house.settle()
    return session


async def newest(house: TestHouse) -> SessionRow:
    return (await house.house.records.find(SessionRow))[-1]


async def test_an_approved_plan_is_carried_out_at_once(tmp_path: Path) -> None:
    """A4, S5, X7."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await begun(house, source)
        (ask,) = await house.house.records.find(AskRow)
        await settlement.answer(house.house.books, "1", "approve", by="ann", shown=ask.shown_hash)
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert (job.approved_by, job.state) == ("ann", JobState.DONE)
        await all_is_well(house)


async def test_the_first_answer_wins_and_only_to_what_was_shown(tmp_path: Path) -> None:
    """X7."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await begun(house, source)
        night = house.house.night
        with pytest.raises(Refused, match="is not the question that you were shown"):
            await settlement.answer(night.books, "1", "approve", by="ann", shown="something else")
        with pytest.raises(Misuse, match="answer approve or reject"):
            await settlement.answer(night.books, "1", "perhaps", by="ann")
        await settlement.answer(night.books, "1", "reject", by="ann", text="not tonight")
        with pytest.raises(Refused, match="settled already"):
            await settlement.answer(night.books, "1", "approve", by="bob")
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.DECLINED
        assert "not tonight" in job.why
        await all_is_well(house)


async def test_a_message_pauses_and_nothing_starts_until_the_person_says_so(tmp_path: Path) -> None:
    """S7."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        session = await begun(house, source)
        answer = await steering.say(
            house.house.books, house.house.night.brain, session, "leave the parser alone", by="ann"
        )
        assert answer.startswith("Your message is in the prompt of every agent that is started from now on")
        (told,) = await house.house.records.find(CheckInRow, trigger="ann's message")
        assert told.text == answer
        await house.pass_time(minutes=30)
        paused = await newest(house)
        assert paused.paused
        assert paused.rounds == 1
        await steering.resume(house.house.journal, house.house.records, paused, by="ann")
        await house.to_the_brief()
        assert (await newest(house)).rounds > 1
        await all_is_well(house)


async def test_pause_holds_the_loop_and_resume_thinks_at_once(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        session = await begun(house, source)
        night = house.house.night
        await steering.pause(night.books.journal, session, by="ann", why="dinner")
        with pytest.raises(Refused, match="paused already: dinner"):
            await steering.pause(night.books.journal, await newest(house), by="ann", why="again")
        with pytest.raises(Refused, match="paused"):
            await steering.think(night.books.journal, night.books.records, await newest(house), by="ann")
        await steering.resume(night.books.journal, night.books.records, await newest(house), by="ann")
        before = len(await house.house.records.find(RoundRow))
        await house.settle()
        assert len(await house.house.records.find(RoundRow)) == before + 1
        await house.to_the_brief()
        await all_is_well(house)


async def test_stop_ends_the_night_and_keeps_the_work(tmp_path: Path) -> None:
    """S6, S8: a waiting job ends, its ask is withdrawn, the brief says why."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        session = await begun(house, source)
        await settlement.debrief(house.house.books, session.id, "stopped by ann", actor="ann")
        await house.settle()
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.STOPPED
        (ask,) = await house.house.records.find(AskRow)
        assert ask.state is AskState.WITHDRAWN
        (report,) = await house.house.records.find(ReportRow)
        assert "stopped by ann" in str(report.brief)
        with pytest.raises(Refused, match="not running"):
            await settlement.debrief(house.house.books, session.id, "again", actor="ann")
        await all_is_well(house)


async def test_a_running_job_is_woken_and_stops(tmp_path: Path) -> None:
    """Stop wakes: the agent's process is taken down in the middle of its work."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home") as house:
        await house.project(source, checks=("sleep 300",))
        await house.begin(orders("Tidy up", level=Level.FULL))
        night = asyncio.ensure_future(house.to_the_brief())
        async for entry in house.house.journal.tail(after=0):
            if entry.event.kind == "job.claimed" and entry.event.stage.value == "execute":
                break
        (job,) = await house.house.records.find(JobRow)
        await steering.stop_job(house.house.books, house.house.workshop.rooms, job, by="ann", why="enough")
        await night
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, job.why) == (JobState.STOPPED, "enough")
        with pytest.raises(Refused, match="already over"):
            await steering.stop_job(house.house.books, house.house.workshop.rooms, job, by="ann", why="again")
        await all_is_well(house)


async def test_a_merge_is_a_persons_act_and_finishes_the_work_item(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await begun(house, source)
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        before = git(source, "rev-parse", "main")
        merged = await pull_requests.merge(house.house.books, house.house.forges, job, by="ann")
        assert git(source, "rev-parse", "main") == merged.merged_sha != before
        (item,) = await house.house.records.find(WorkRow)
        assert item.status is WorkStatus.DONE
        assert (await house.house.records.find(PullRequestRow))[0].state == "merged"
        await all_is_well(house)


async def test_a_merge_is_taken_back_while_its_branch_stands_and_loses_nothing(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await begun(house, source)
        await house.to_the_brief()
        night = house.house.night
        (job,) = await house.house.records.find(JobRow)
        before = git(source, "rev-parse", "main")
        with pytest.raises(Unknown, match="no merged pull request"):
            await pull_requests.unmerge(night.books, night.outside.forges, job, by="ann")
        await pull_requests.merge(night.books, night.outside.forges, job, by="ann")
        (source / "README.md").write_text("# Not committed\n")
        opened = await pull_requests.unmerge(night.books, night.outside.forges, job, by="ann")
        assert (opened.state, opened.undo, git(source, "rev-parse", "main")) == ("open", (), before)
        assert (source / "README.md").read_text() == "# Not committed\n"
        assert (await house.house.records.find(WorkRow))[0].status is WorkStatus.IN_PROGRESS
        git(source, "checkout", "-q", "README.md")
        assert (await pull_requests.merge(night.books, night.outside.forges, job, by="ann")).state == "merged"
        git(source, "commit", "-q", "--allow-empty", "-m", "I moved on")
        with pytest.raises(Stale, match="has moved on since the merge"):
            await pull_requests.unmerge(night.books, night.outside.forges, job, by="ann")
        assert (await house.house.records.find(PullRequestRow))[0].state == "merged"
        await all_is_well(house)


async def test_a_review_is_stored_scored_and_ends_the_night(tmp_path: Path, database_url: str) -> None:
    """N14, N15, N22: 0.6 usefulness + 0.4 outcomes - penalty."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home", database_url) as house:
        await begun(house, source)
        await house.to_the_brief()
        (report,) = await house.house.records.find(ReportRow)
        first, second = report.recommendations
        (pending,) = await house.house.records.find(EvaluationRow)
        assert pending.capture_status == "pending"
        given = Review(
            usefulness=5,
            trust=4,
            brevity=4,
            outcomes=(
                Given(recommendation=first.id, outcome=ReviewOutcome.ACCEPTED),
                Given(recommendation=second.id, outcome=ReviewOutcome.REJECTED, reason="known"),
            ),
            flags=(FlagKind.WRONG_FACT,),
        )
        session = await review.submit(house.house.books, given, by="ann")
        assert session.state is SessionState.ENDED
        (run,) = await house.house.records.find(RunRow)
        assert run.score_post == pytest.approx(0.6 * 1 + 0.4 * 0.5 - 0.1)
        (submitted,) = await house.house.records.find(EvaluationRow)
        assert (submitted.capture_status, submitted.usefulness) == ("submitted", 5)
        assert {row.outcome for row in await house.house.records.find(OutcomeRow)} == {"accepted", "rejected"}
        again = given.model_copy(update={"flags": ()})
        await review.submit(house.house.books, again, by="ann")
        (run,) = await house.house.records.find(RunRow)
        assert run.score_post == pytest.approx(0.8)
        await all_is_well(house)


async def test_no_caller_merges_what_the_review_rejected(tmp_path: Path) -> None:
    """A3: the rule is where the merge is, so that a new surface meets it too."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await begun(house, source)
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        (report,) = await house.house.records.find(ReportRow)
        before = git(source, "rev-parse", "main")
        no = Given(recommendation=report.recommendations[0].id, outcome=ReviewOutcome.REJECTED)
        said = Review(usefulness=3, trust=3, brevity=3, outcomes=(no,))
        await review.submit(house.house.books, said, by="ann")
        with pytest.raises(Refused, match="was rejected in the review"):
            await pull_requests.merge(house.house.books, house.house.forges, job, by="ann")
        assert git(source, "rev-parse", "main") == before
        yes = said.model_copy(update={"outcomes": (no.model_copy(update={"outcome": ReviewOutcome.ACCEPTED}),)})
        await review.submit(house.house.books, yes, by="ann")
        assert (await pull_requests.merge(house.house.books, house.house.forges, job, by="ann")).state == "merged"
        await all_is_well(house)


async def test_a_review_that_never_comes_counts_for_nothing(tmp_path: Path) -> None:
    """N22."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await begun(house, source)
        await house.to_the_brief()
        await house.pass_time(hours=37)
        assert (await newest(house)).state is SessionState.ENDED
        (timed_out,) = await house.house.records.find(EvaluationRow)
        assert timed_out.capture_status == "timeout"
        (run,) = await house.house.records.find(RunRow)
        assert run.score_post is None
        await all_is_well(house)


async def test_the_level_is_earned_or_forced_and_survives_a_restart(tmp_path: Path) -> None:
    """O5."""
    async with a_scripted_house(tmp_path / "home") as house:
        with pytest.raises(Refused, match="12"):
            await set_level(house.house.books, Level.CAUTIOUS, by="ann")
        await set_level(house.house.books, Level.CAUTIOUS, by="ann", forced=True, reason="I watched it")
    async with a_scripted_house(tmp_path / "home") as house:
        (standing,) = await house.house.records.find(StandingRow)
        assert standing.level is Level.CAUTIOUS
        await all_is_well(house)


async def test_a_pull_request_can_be_closed_and_its_work_goes_back(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await begun(house, source)
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        closed = await pull_requests.close(house.house.books, house.house.forges, job, by="ann", why="not now")
        assert closed.state == "closed"
        (item,) = await house.house.records.find(WorkRow)
        assert (item.status, item.next_step) == (WorkStatus.BACKLOG, "not now")
        with pytest.raises(Misuse, match="no open pull request"):
            await pull_requests.close(house.house.books, house.house.forges, job, by="ann", why="again")
        await all_is_well(house)


async def test_a_stop_that_meets_the_plan_leaves_no_job_hanging(tmp_path: Path) -> None:
    """X4: the stop comes after the agent planned and before the plan is recorded."""
    source = sample_repository(tmp_path / "sample")
    agent = StopsMeanwhile()
    async with a_scripted_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        agent.house = house
        await begun(house, source)
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, job.why) == (JobState.STOPPED, "meanwhile")
        await house.to_the_brief()
        await all_is_well(house)


class StopsMeanwhile(ScriptedAgent):
    """Its person stops it in the very moment it has its plan."""

    house: TestHouse

    def __init__(self) -> None:
        super().__init__(lambda _: None)

    async def plan(self, assignment: Task) -> Plan:
        planned = await super().plan(assignment)
        (job,) = await self.house.house.records.find(JobRow)
        await steering.stop_job(self.house.house.books, self.house.house.workshop.rooms, job, by="ann", why="meanwhile")
        return planned
