"""Nights on which work fails: what is tried again, what the next try is told, when a person is asked (O8, SPEC 9)."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from midwatch.errors import Broken
from midwatch.journal.events.session import AskWithdrawn
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.night.recovery import overdue
from midwatch.ports.agent import Task
from midwatch.store.schema.tables import timers
from midwatch.terms.agents import FormerTry
from midwatch.terms.asks import AskKind, AskState, Tier
from midwatch.terms.jobs import JobState, Plan
from midwatch.terms.orders import OrderedWork
from midwatch.terms.projects import SessionState
from midwatch.terms.records import ActRow, AskRow, JobRow, NoticeRow, PullRequestRow, SessionRow, TimerRow
from midwatch.terms.trust import Level
from tests.nights.house import ONE_TRY, TestHouse, a_house, orders, sample_repository
from tests.nights.scripted import GOOD, ScriptedAgent
from tests.nights.test_first_night import all_is_well

MISSING = "The tests could not run: ModuleNotFoundError: No module named 'attrs'"


class ForgetfulAgent(ScriptedAgent):
    """Fails at its plan so many times, and remembers what it was told about the tries before."""

    def __init__(self, message: str, times: int = 99, only: str = "") -> None:
        super().__init__(GOOD)
        self._message, self._times, self._only = message, times, only
        self.former: list[FormerTry | None] = []

    async def plan(self, assignment: Task) -> Plan:
        if self._only and assignment.title != self._only:
            return await super().plan(assignment)
        self.former.append(assignment.facts.former)
        if len(self.former) <= self._times:
            raise Broken(self._message)
        return await super().plan(assignment)


async def begun(house: TestHouse, tmp_path: Path, level: Level = Level.MODERATE, **more: Any) -> None:
    await house.project(sample_repository(tmp_path / "sample"))
    await house.begin(orders("Tidy up", level=level, **more))


async def until_asked(house: TestHouse) -> AskRow:
    for _ in range(60):
        await house.settle()
        if asks := await house.house.records.find(AskRow, state=AskState.OPEN):
            return asks[-1]
        due = [row.due_at for row in await house.house.records.find(TimerRow)]
        house.clock.jump_to(min(due))
    raise AssertionError("nobody was asked")


async def test_the_next_try_is_told_what_failed_and_what_to_do_differently(tmp_path: Path) -> None:
    agent = ForgetfulAgent(MISSING, times=1)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await begun(house, tmp_path)
        await house.to_the_brief()
        first, second = await house.house.records.find(JobRow)
        assert (first.state, first.cause, second.retry_of) == (JobState.FAILED, "dependency", first.id)
        assert second.state is JobState.DONE
        before, after = agent.former
        assert before is None
        assert after is not None
        assert "No module named" in after.said
        assert "which packages" in after.differently
        (restart,) = await house.house.records.find(ActRow, kind="restart", state="done")
        assert "dependency" in restart.proposal.reason
        assert len(await house.house.records.find(PullRequestRow)) == 1
        await all_is_well(house)


async def test_after_three_tries_everywhere_the_night_stops_and_asks_loudly(tmp_path: Path) -> None:
    """SPEC 9: three per cause, then guidance; in every project of the orders that is critical."""
    agent = ForgetfulAgent(MISSING)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await begun(house, tmp_path)
        ask = await until_asked(house)
        records = house.house.records
        jobs = await records.find(JobRow)
        assert [job.state for job in jobs] == [JobState.FAILED] * 3
        assert ask.kind is AskKind.GUIDANCE_ERROR
        assert "after 3 tries" in ask.question
        assert "Tried: tries 1 to 3 at plan: " in ask.question
        assert ask.question.count("No module named") == 1, "what failed three times alike is said once"
        assert "Install what is missing" in ask.question
        (session,) = await records.find(SessionRow)
        assert session.paused
        (told,) = await records.find(NoticeRow, subject=ask.id)
        assert told.tier == Tier.URGENT
        first = [row for row in await records.find(NoticeRow) if "Job 1 (Tidy up) failed at " in row.text]
        assert [(row.tier, row.subject) for row in first] == [(Tier.ACTION, session.id)]
        await all_is_well(house)


async def test_a_persons_word_lets_it_be_tried_again_and_silence_ends_the_night(tmp_path: Path) -> None:
    agent = ForgetfulAgent(MISSING, times=3)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await begun(house, tmp_path)
        ask = await until_asked(house)
        await settlement.answer(house.house.books, ask.id, "go on", by="ann")
        session = await house.to_the_brief()
        jobs = await house.house.records.find(JobRow)
        assert [job.state for job in jobs][3:] == [JobState.DONE]
        assert session.reason == "everything ordered is settled"
        await all_is_well(house)


async def test_what_was_refused_while_its_project_stood_still_is_begun_after_a_persons_word(tmp_path: Path) -> None:
    agent = ForgetfulAgent(MISSING, times=1, only="One")
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}, flags=ONE_TRY) as house:
        for name in ("sample", "other"):
            await house.project(sample_repository(tmp_path / name), name=name)
        ordered = (("sample", "One"), ("sample", "Two"), ("other", "Three"))
        work = tuple(OrderedWork(project=project, title=title) for project, title in ordered)
        await house.begin(orders(level=Level.FULL, work=work))
        ask = await until_asked(house)
        (refused,) = await house.house.records.find(ActRow, state="refused")
        assert refused.code == "gate.retries_project"
        await settlement.answer(house.house.books, ask.id, "go on", by="ann")
        await house.to_the_brief()
        done = [job.title for job in await house.house.records.find(JobRow) if job.state is JobState.DONE]
        assert sorted(done) == ["One", "Three", "Two"]
        await all_is_well(house)


async def test_go_on_goes_on_at_cautious_and_is_not_asked_about_again(tmp_path: Path) -> None:
    """The word of a person is neither held by a cooldown nor undone by silence."""
    agent = ForgetfulAgent(MISSING, times=1)
    flags = {"jobs.max_retries": 1, "gate.same_action_minutes": 600, "gate.same_project_minutes": 600}
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}, flags=flags) as house:
        await begun(house, tmp_path, Level.CAUTIOUS)
        ask = await until_asked(house)
        await settlement.answer(house.house.books, ask.id, "go on", by="ann")
        await house.settle()
        asks = await house.house.records.find(AskRow, kind=AskKind.CONFIRM_ACT)
        jobs = await house.house.records.find(JobRow)
        assert (asks, len(jobs)) == ((), 2)
        await house.to_the_brief()
        assert (await house.house.records.find(JobRow))[-1].state is JobState.DONE
        await all_is_well(house)


async def test_a_person_who_resumes_the_night_has_answered_what_it_was_paused_for(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home", agents={"housekeeper": ForgetfulAgent(MISSING, times=3)}) as house:
        await begun(house, tmp_path)
        ask = await until_asked(house)
        (paused,) = await house.house.records.find(SessionRow)
        await steering.resume(house.house.journal, house.house.records, paused, by="ann")
        answered = await house.house.records.get(AskRow, ask.id)
        assert (answered.state, answered.answer, answered.answered_by) == (AskState.ANSWERED, "go on", "ann")
        session = await house.to_the_brief()
        assert session.reason == "everything ordered is settled"
        await all_is_well(house)


async def test_silence_after_the_last_try_ends_the_night(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home", agents={"housekeeper": ForgetfulAgent(MISSING)}) as house:
        await begun(house, tmp_path)
        session = await house.to_the_brief()
        assert session.state is SessionState.DEBRIEF
        assert "got no answer" in session.reason
        assert len(await house.house.records.find(JobRow)) == 3
        await all_is_well(house)


async def test_one_stuck_project_is_parked_and_the_others_go_on(tmp_path: Path) -> None:
    agent = ForgetfulAgent(MISSING, only="Stuck")
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await house.project(sample_repository(tmp_path / "one"), name="one")
        await house.project(sample_repository(tmp_path / "two"), name="two")
        work = (OrderedWork(project="one", title="Stuck"), OrderedWork(project="two", title="Tidy up"))
        await house.begin(orders(level=Level.MODERATE, work=work))
        await house.to_the_brief()
        records = house.house.records
        (ask,) = await records.find(AskRow, kind=AskKind.GUIDANCE_UNCERTAIN)
        assert (ask.state, ask.answer) == (AskState.EXPIRED, "parked")
        assert len(await records.find(PullRequestRow)) == 1
        assert len([job for job in await records.find(JobRow) if job.title == "Stuck"]) == 3
        await all_is_well(house)


async def test_what_only_a_person_can_mend_is_not_tried_again(tmp_path: Path) -> None:
    agent = ForgetfulAgent("git: server certificate verification failed")
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await begun(house, tmp_path)
        ask = await until_asked(house)
        (job,) = await house.house.records.find(JobRow)
        assert job.cause == "tls"
        assert "certificate" in ask.question
        assert len(agent.former) == 1
        await all_is_well(house)


async def test_the_count_is_the_same_after_a_restart(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with a_house(home, agents={"housekeeper": ForgetfulAgent(MISSING)}) as house:
        await begun(house, tmp_path)
        while len([job for job in await house.house.records.find(JobRow) if job.state.over]) < 2:
            await house.settle()
            house.clock.jump_to(min(row.due_at for row in await house.house.records.find(TimerRow)))
        now = house.clock.now()
    async with a_house(home, begins=now, agents={"housekeeper": ForgetfulAgent(MISSING)}) as house:
        await until_asked(house)
        assert len(await house.house.records.find(JobRow)) == 3
        await all_is_well(house)


@pytest.mark.parametrize("lost", ["stage", "wake"])
async def test_a_job_nobody_has_is_found_by_the_patrol_and_goes_on(tmp_path: Path, lost: str) -> None:
    """X4: work that was lost between two stages, and a wait whose timer was lost."""
    agent = ForgetfulAgent("HTTP 503 Service Unavailable", times=1 if lost == "wake" else 0)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await begun(house, tmp_path, Level.FULL)
        perform = house.house.performer.perform
        forgotten: list[str] = []

        async def forgetful(name: str, args: dict[str, Any], seq: int) -> None:
            if name == lost == "stage" and args["stage"] == "verify" and not forgotten:
                forgotten.append(name)
                return
            await perform(name, args, seq)

        await house.engine.start(forgetful)
        await house.settle()
        patrol = overdue.Patrol(
            house.house.books, house.house.night.workspace, house.house.night.outside, perform, house.house.duties
        )
        if lost == "wake":
            with sa.create_engine(house.house.url).begin() as connection:
                connection.execute(timers.delete().where(timers.c.kind == "job"))
        (job,) = await house.house.records.find(JobRow)
        assert not job.state.over
        assert await patrol.once() == 0  # it may only be between two hands
        house.clock.jump_to(house.clock.now() + timedelta(minutes=3))
        assert await patrol.once() == 1
        await house.to_the_brief()
        assert (await house.house.records.get(JobRow, job.id)).state is JobState.DONE
        await all_is_well(house)


async def test_a_plan_nobody_is_asked_about_is_shown_again_by_the_patrol(tmp_path: Path) -> None:
    """X4: approved then, the work goes on."""
    async with a_house(tmp_path / "home", agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        await begun(house, tmp_path, Level.CAUTIOUS)
        lost = await until_asked(house)
        assert lost.kind is AskKind.APPROVE_PLAN
        await house.house.journal.record(AskWithdrawn(ask=lost.id, why="lost"))
        patrol = house.house.patrol()
        assert await patrol.once() == 0
        house.clock.jump_to(house.clock.now() + timedelta(minutes=3))
        assert await patrol.once() == 1
        assert await patrol.once() == 0
        (ask,) = await house.house.records.find(AskRow, state=AskState.OPEN)
        assert (ask.kind, ask.shown_hash, ask.question) == (lost.kind, lost.shown_hash, lost.question)
        await settlement.answer(house.house.books, ask.id, "approve", by="ann")
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.DONE
        await all_is_well(house)


async def test_in_a_healthy_night_the_patrol_finds_nothing(tmp_path: Path) -> None:
    """X4: a repair that nothing provoked would be a fault of its own."""
    agent = ForgetfulAgent("HTTP 503 Service Unavailable", times=2)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await begun(house, tmp_path)
        patrol = house.house.patrol()
        for _ in range(40):
            assert await patrol.once() == 0
            await house.pass_time(minutes=1)
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, job.stumbles) == (JobState.DONE, 2)
        assert [failure.cause for failure in job.failures] == ["transient"] * 2
        await all_is_well(house)
