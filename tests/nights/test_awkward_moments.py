"""Commands, stops and crashes at awkward moments: nothing is stranded, done twice, or done after the night is over."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midwatch.brains.rules_brain import RulesBrain
from midwatch.errors import Refused, Stale
from midwatch.evening import sign_orders
from midwatch.evening.projects import set_level
from midwatch.journal.events.jobs import JobClaimed, JobEnded, JobStopRequested
from midwatch.journal.events.session import SessionPaused
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.night.jobs import attempt
from midwatch.night.recovery import overdue
from midwatch.ports.agent import Task
from midwatch.terms.acts import ActKind, BrainAnswer, Proposal, Sense
from midwatch.terms.asks import AskState, Silence
from midwatch.terms.jobs import JobState, Plan, Stage
from midwatch.terms.projects import SessionState
from midwatch.terms.records import AskRow, EvaluationRow, JobRow, PullRequestRow, ReportRow, RunRow, SessionRow
from midwatch.terms.trust import Level
from tests.nights.house import TestHouse, git, orders, sample_repository
from tests.nights.scripted import ScriptedAgent, a_scripted_house
from tests.nights.test_first_night import all_is_well


async def newest(house: TestHouse) -> SessionRow:
    return (await house.house.records.find(SessionRow))[-1]


class Interrupted(RulesBrain):
    """While it thinks, something else happens once."""

    house: TestHouse
    happens: Any = None

    async def propose(self, sense: Sense) -> BrainAnswer:
        answer = await super().propose(sense)
        if self.happens is not None:
            meanwhile, self.happens = self.happens, None
            await meanwhile(self.house, sense)
        return answer


async def test_a_pause_in_the_middle_of_a_round_loses_no_work(tmp_path: Path) -> None:
    """S7: what was not judged yet is proposed again after resume."""
    source = sample_repository(tmp_path / "sample")
    brain = Interrupted()

    async def pause(house: TestHouse, sense: Sense) -> None:
        await house.house.journal.record(SessionPaused(session=sense.session, why="dinner"))

    brain.happens = pause
    async with a_scripted_house(tmp_path / "home", brain=brain) as house:
        brain.house = house
        await house.project(source)
        await house.begin(orders("Tidy up"))
        await house.pass_time(minutes=30)
        held = await newest(house)
        assert (held.state, held.paused) == (SessionState.AUTONOMOUS, True)
        await steering.resume(house.house.journal, house.house.records, held, by="ann")
        await house.to_the_brief()
        assert len(await house.house.records.find(PullRequestRow)) == 1
        await all_is_well(house)


async def test_nothing_starts_after_the_night_was_stopped_in_the_middle_of_a_round(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    brain = Interrupted()

    async def stop(house: TestHouse, sense: Sense) -> None:
        await settlement.debrief(house.house.books, sense.session, "stopped by ann", actor="ann")

    brain.happens = stop
    async with a_scripted_house(tmp_path / "home", brain=brain) as house:
        brain.house = house
        await house.project(source)
        await house.begin(orders("Tidy up", level=Level.FULL))
        await house.settle()
        assert await house.house.records.find(JobRow) == ()
        assert len(await house.house.records.find(ReportRow)) == 1
        await all_is_well(house)


async def test_lowering_the_level_to_observe_holds_a_plan_that_silence_would_approve(tmp_path: Path) -> None:
    """O4, O5: nothing above the level happens, also when the level changes in the night."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        await house.begin(orders("Tidy up"))
        await house.settle()
        await set_level(house.house.books, Level.OBSERVE, by="ann")
        await house.pass_time(minutes=40)
        (ask,) = await house.house.records.find(AskRow)
        assert (ask.state, ask.silence, ask.due_at) == (AskState.OPEN, Silence.WAITS, None), "SPEC 9: else it waits"
        (job,) = await house.house.records.find(JobRow)
        assert job.stage is Stage.APPROVE
        await settlement.answer(house.house.books, str(ask.number), "reject", by="ann")
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.DECLINED
        assert await house.house.records.find(PullRequestRow) == ()
        (report,) = await house.house.records.find(ReportRow)
        assert "observed only" not in report.brief.headline
        await all_is_well(house)
    assert "agent/" not in git(source, "branch", "-a")


async def test_a_stop_that_lands_right_after_the_plan_ends_the_wait(tmp_path: Path) -> None:
    """X4: the stop was decided while the agent planned, and is recorded when the plan already waits."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        await house.begin(orders("Tidy up"))
        await house.settle()
        (job,) = await house.house.records.find(JobRow)
        assert job.stage is Stage.APPROVE
        await house.house.journal.record(JobStopRequested(job=job.id, by="ann", why="enough"))
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, job.why) == (JobState.STOPPED, "enough")
        assert len(await house.house.records.find(ReportRow)) == 1
        await all_is_well(house)


class Superseded(ScriptedAgent):
    """While it works, another worker takes the job over; then it falls over."""

    house: TestHouse

    def __init__(self) -> None:
        super().__init__(lambda _: None)
        self.once = True

    async def plan(self, assignment: Task) -> Plan:
        if self.once:
            self.once = False
            (job,) = await self.house.house.records.find(JobRow)
            claim = JobClaimed(job=job.id, stage=job.stage, attempt=1, epoch=job.epoch + 1, worker="another")
            await self.house.house.journal.record(claim)
            raise ZeroDivisionError
        return await super().plan(assignment)


async def test_a_superseded_worker_cannot_fail_the_new_ones_job(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    agent = Superseded()
    async with a_scripted_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        agent.house = house
        await house.project(source)
        await house.begin(orders("Tidy up"))
        await house.settle()
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, job.worker) == (JobState.RUNNING, "another")
        await attempt.attempt_stage(house.house.night, job.id, Stage.PLAN, 1)
        await house.to_the_brief()
        assert (await house.house.records.find(JobRow))[0].state is JobState.DONE


async def test_orders_that_change_while_they_are_signed_are_not_signed(tmp_path: Path) -> None:
    """N25: consent is to exactly what was read."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        evening = house.house.evening
        await sign_orders.draft(evening, orders("Tidy up"), by="ann")
        inspect = evening.inspector.inspect

        class Slow:
            async def inspect(self, path: Path | str) -> Any:
                await sign_orders.draft(evening, orders("Rewrite everything", "Two"), by="bob")
                return await inspect(path)

        with pytest.raises(Stale, match="changed while they were being signed"):
            await sign_orders.start(replace(evening, inspector=Slow()), by="ann")
        assert (await newest(house)).state is SessionState.BRIEFING
        await all_is_well(house)


async def test_the_rounds_limit_ends_the_night_also_while_a_plan_waits(tmp_path: Path) -> None:
    """S8."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        signed = orders("Tidy up", permissions={"silence_approves": False}, limits={"rounds": 2, "minutes": 600})
        await house.begin(signed)
        session = await house.to_the_brief()
        assert session.reason == "the night's rounds are used up"
        assert session.rounds <= 3
        assert (await house.house.records.find(JobRow))[0].state is JobState.STOPPED
        await all_is_well(house)


class Unsure(RulesBrain):
    """Proposes as the rules do, but is not sure."""

    async def propose(self, sense: Sense) -> BrainAnswer:
        answer = await super().propose(sense)
        unsure = [one.model_copy(update={"confidence": 0.3}) if _starts(one) else one for one in answer.proposals]
        return answer.model_copy(update={"proposals": tuple(unsure)})


def _starts(proposal: Proposal) -> bool:
    return proposal.kind is ActKind.START


async def test_an_item_that_waits_for_a_yes_is_asked_about_once(tmp_path: Path) -> None:
    """S11: no storm of the same ask; the yes starts it, once."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home", brain=Unsure()) as house:
        await house.project(source)
        await house.begin(orders("Tidy up", level=Level.MODERATE))
        await house.pass_time(minutes=30)
        (ask,) = await house.house.records.find(AskRow)
        await settlement.answer(house.house.books, str(ask.number), "yes", by="ann")
        await house.to_the_brief()
        assert len(await house.house.records.find(PullRequestRow)) == 1
        await all_is_well(house)


async def test_a_night_replaced_by_the_next_still_gets_its_brief(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        first = await house.begin(orders("Tidy up"))
        await house.settle()
        await settlement.debrief(house.house.books, first.id, "stopped by ann", actor="ann")
        await house.begin(orders("Again"))
        await house.to_the_brief()
        assert {report.session for report in await house.house.records.find(ReportRow)} == {
            row.id for row in await house.house.records.find(SessionRow)
        }
        await house.pass_time(hours=40)
        assert {row.capture_status for row in await house.house.records.find(EvaluationRow)} == {"timeout"}
        await all_is_well(house)


async def test_what_was_left_lying_is_found_and_taken_up_again(tmp_path: Path) -> None:
    """X4: a lost `close` leaves a run running; the patrol finds it, and in a healthy house it finds nothing."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        await house.begin(orders("Tidy up", level=Level.FULL))
        engine = house.engine
        lost: list[dict[str, Any]] = []
        perform = house.house.performer.perform

        async def forgetful(name: str, args: dict[str, Any], seq: int) -> None:
            if name == "close" and not lost:
                lost.append(args)
                return
            await perform(name, args, seq)

        await engine.start(forgetful)
        await house.pass_time(minutes=8)
        (run,) = await house.house.records.find(RunRow)
        assert (run.status, bool(lost)) == ("running", True)
        patrol = overdue.Patrol(
            house.house.books, house.house.night.workspace, house.house.night.outside, perform, house.house.duties
        )
        assert await patrol.once() >= 1
        await house.to_the_brief()
        assert await patrol.once() == 0
        assert len(await house.house.records.find(ReportRow)) == 1
        await all_is_well(house)


async def test_a_stop_after_a_crash_at_the_pull_request_leaves_none_that_nobody_wrote_down(tmp_path: Path) -> None:
    """X4: the branch is out, and a second job would open a second one beside it."""
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        perform = house.house.performer.perform

        async def cut_off(name: str, args: dict[str, Any], seq: int) -> None:
            if args.get("stage") != Stage.PULL_REQUEST:
                await perform(name, args, seq)

        await house.engine.start(cut_off)
        await house.begin(orders("Tidy up", level=Level.FULL))
        await house.settle()
        night = house.house.night
        (job,) = await house.house.records.find(JobRow)
        assert job.stage is Stage.PULL_REQUEST
        await house.engine.start(perform)
        await steering.stop_job(night.books, night.workspace.rooms, job, by="ann", why="enough")
        await attempt.attempt_stage(night, job.id, job.stage, job.attempt)
        await house.settle()
        (opened,) = await house.house.records.find(PullRequestRow)
        assert (opened.job, (await house.house.records.get(JobRow, job.id)).state) == (job.id, JobState.DONE)
        await all_is_well(house)


async def test_a_job_whose_pull_request_stands_is_not_resumed(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        perform = house.house.performer.perform

        async def cut_off(name: str, args: dict[str, Any], seq: int) -> None:
            if args.get("stage") != Stage.NOTICE:
                await perform(name, args, seq)

        await house.engine.start(cut_off)
        await house.begin(orders("Tidy up", level=Level.FULL))
        await house.settle()
        (job,) = await house.house.records.find(JobRow)
        await house.house.journal.record(JobEnded(job=job.id, epoch=job.epoch, state="failed", why="the end was lost"))
        failed = await house.house.records.get(JobRow, job.id)
        with pytest.raises(Refused, match="has already delivered: pull request 1 is open"):
            await steering.resume_job(house.house.books, failed, by="ann")
