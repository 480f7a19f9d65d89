"""Time boxes (SPEC 9, O11): warned, stopped with the work kept, then continued or yielded; the clock is ours."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from midwatch.errors import Unavailable
from midwatch.journal.events.signals import SignalPassed
from midwatch.night.commands import steering
from midwatch.night.jobs.time_box_warning import TimeLeft
from midwatch.ports.agent import Task
from midwatch.rules.budget.time_boxes import TIME_LEFT, boxed
from midwatch.terms.asks import Tier
from midwatch.terms.jobs import Done, JobState, Plan, Stage
from midwatch.terms.records import ActRow, JobRow, NoticeRow, PullRequestRow, TimerRow, WorkRow
from midwatch.terms.trust import Level
from tests.nights.house import TestHouse, a_house, git, orders, sample_repository
from tests.nights.scripted import GOOD, ScriptedAgent
from tests.nights.test_first_night import all_is_well

MINUTE = timedelta(minutes=1)


class SlowAgent(ScriptedAgent):
    """Works for as many minutes as it is told, commits on its way or not, and leaves when it is stopped."""

    def __init__(self, *minutes: float, commits: bool = True) -> None:
        super().__init__(GOOD)
        self.house: TestHouse | None = None
        self._minutes, self._commits = list(minutes), commits
        self.interrupted: list[bool] = []
        self.timers: list[str] = []

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        house = self.house
        assert house is not None
        self.interrupted.append(assignment.facts.interrupted)
        if self._commits:
            (assignment.room.tree / f"part{len(self.interrupted)}.md").write_text("A part.\n")
            git(assignment.room.tree, "add", "-A")
            git(assignment.room.tree, "commit", "-q", "-m", "A part")
        assignment.room.log.parent.mkdir(parents=True, exist_ok=True)
        assignment.room.log.write_text("looked at all of it, and at more\n")
        wake_up = house.house.night.workspace.wake_ups.of(assignment.job)
        for _ in range(int(self._minutes.pop(0) if self._minutes else 1)):
            house.clock.jump_to(house.clock.now().replace(microsecond=0) + MINUTE)
            self.timers = [row.kind for row in await house.house.records.find(TimerRow)]
            for row in await house.house.records.find(TimerRow, kind="box"):
                if row.due_at <= house.clock.now():
                    await house.house.timers._serve(row)
            if wake_up.is_set():
                raise Unavailable("It was stopped.")
        return await super().execute(assignment, plan)


async def a_slow_night(house: TestHouse, tmp_path: Path, agent: SlowAgent) -> tuple[JobRow, ...]:
    agent.house = house
    await house.project(sample_repository(tmp_path / "sample"))
    await house.begin(orders("Tidy up", level=Level.FULL))
    await house.to_the_brief()
    await all_is_well(house)
    return tuple(await house.house.records.find(JobRow))


async def test_a_job_that_takes_too_long_is_warned_stopped_and_goes_on_where_it_was(tmp_path: Path) -> None:
    agent = SlowAgent(99, 3)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        first, second = await a_slow_night(house, tmp_path, agent)
        assert boxed(first)
        assert (first.boxes, second.boxes, second.retry_of) == (1, 2, first.id)
        assert (second.state, second.plan_hash) == (JobState.DONE, first.plan_hash)
        assert agent.interrupted == [False, True]
        records = house.house.records
        told = [row for row in await records.find(NoticeRow) if row.subject == first.id]
        assert [row.tier for row in told if "minutes" in row.text or "time box" in row.text] == [Tier.ACTION] * 2
        assert "looked at all of it" in told[-1].text
        assert b"looked at all of it" in await house.house.blobs.fetch(first.output_blob)
        (done,) = await records.find(PullRequestRow)
        assert git(tmp_path / "sample", "show", "--stat", done.branch).count("part") or done.head
        assert "part1.md" in git(tmp_path / "sample", "ls-tree", "-r", "--name-only", done.branch)
        (restart,) = await records.find(ActRow, kind="restart")
        assert (restart.state, restart.result) == ("done", second.id)


class TurningAgent(SlowAgent):
    """Ends a turn after so many minutes, and hears what there is to say; a warning of another attempt lay there."""

    def __init__(self, minutes: float) -> None:
        super().__init__(minutes)
        self.heard: list[str] = []
        self.lay: list[bool] = []

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        assert self.house is not None
        assert assignment.hear is not None
        letters = assignment.room.letters
        letters.warn("Another's time was over.")
        done = await super().execute(assignment, plan)
        self.heard = [await assignment.hear(turn) for turn in (1, 1, 2)]
        self.lay.append(letters.warning_unread())
        job = await self.house.house.records.get(JobRow, assignment.job)
        restarted = TimeLeft(self.house.house.books, self.house.house.night.workspace.wake_ups, job, assignment.room)
        await restarted.look()
        self.lay.append(letters.warning_unread())
        return done


@pytest.mark.parametrize(("minutes", "told"), [(40, False), (47, True)])
async def test_an_agent_that_ends_its_turn_is_not_given_another_to_be_told_to_hurry(
    tmp_path: Path, minutes: int, told: bool
) -> None:
    agent = TurningAgent(minutes)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        (job,) = await a_slow_night(house, tmp_path, agent)
        assert (job.state, job.box_warned_at is not None) == (JobState.DONE, told)
        assert agent.heard == ["", "", ""], "another turn would be paid for, and might outlast the box"
        assert agent.lay[-1] is told
        events = [entry.event for entry in await house.house.journal.entries(limit=2000)]
        passed = [(one.how, one.signals) for one in events if isinstance(one, SignalPassed)]
        assert passed == ([("file", ())] if told else [])


class CallingAgent(SlowAgent):
    """Makes two tool calls at once when it has been at work for so many minutes, then ends its turn."""

    def __init__(self, minutes: float) -> None:
        super().__init__(minutes)
        self.noted: list[str] = []

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        assert self.house is not None
        assert assignment.hear is not None
        assert assignment.note is not None
        early = await assignment.note("first")
        done = await super().execute(assignment, plan)
        both = await asyncio.gather(assignment.note("second"), assignment.note("third"))
        carried = "second" if both[0] else "third"
        job = await self.house.house.records.get(JobRow, assignment.job)
        restarted = TimeLeft(self.house.house.books, self.house.house.night.workspace.wake_ups, job, assignment.room)
        again = [await restarted.note(carried), await restarted.note("fourth")]
        self.noted = [early, *sorted(both), *again, await assignment.hear(1)]
        return done


async def test_of_two_calls_at_once_one_carries_the_warning_also_when_it_is_asked_again(
    tmp_path: Path,
) -> None:
    agent = CallingAgent(47)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await a_slow_night(house, tmp_path, agent)
        words = f"Your time is over in about 4 minutes: {TIME_LEFT}."
        assert agent.noted == ["", "", words, words, "", ""], "asked again after a restart, the same call gets the same"
        events = [entry.event for entry in await house.house.journal.entries(limit=2000)]
        assert [one.how for one in events if isinstance(one, SignalPassed)] == ["file", "call"]


async def test_a_box_that_came_to_nothing_yields(tmp_path: Path) -> None:
    agent = SlowAgent(99, commits=False)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        (job,) = await a_slow_night(house, tmp_path, agent)
        assert boxed(job)
        (act,) = await house.house.records.find(ActRow, kind="update_work_item")
        assert (act.state, "made no progress" in act.proposal.reason) == ("done", True)
        (item,) = await house.house.records.find(WorkRow)
        assert "Parked at execute" in item.next_step


async def test_nobody_goes_on_more_than_twice(tmp_path: Path) -> None:
    agent = SlowAgent(99, 99, 99, 99)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        jobs = await a_slow_night(house, tmp_path, agent)
        assert [job.boxes for job in jobs] == [1, 2, 3]
        assert all(boxed(job) for job in jobs)
        (act,) = await house.house.records.find(ActRow, kind="update_work_item")
        assert "reached the limit" in act.proposal.reason


async def test_a_job_inside_its_box_is_left_alone(tmp_path: Path) -> None:
    agent = SlowAgent(40)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        (job,) = await a_slow_night(house, tmp_path, agent)
        assert (job.state, job.box_warned_at) == (JobState.DONE, None)
        assert "box" in agent.timers
        assert not [row for row in await house.house.records.find(TimerRow) if row.kind == "box"]


async def test_a_persons_own_job_has_no_box(tmp_path: Path) -> None:
    agent = SlowAgent(99, 70, commits=False)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        (job,) = await a_slow_night(house, tmp_path, agent)
        resumed = await steering.resume_job(house.house.books, job, by="ann")
        await house.settle()
        after = await house.house.records.get(JobRow, resumed.id)
        assert (after.boxes, after.box_began_at, after.state) == (0, None, JobState.DONE)
        assert after.stage is not Stage.EXECUTE


@pytest.mark.parametrize("extra", [0.0])
async def test_without_extra_minutes_there_is_no_warning(tmp_path: Path, extra: float) -> None:
    agent = SlowAgent(99, commits=False)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        execution = house.house.loaded.settings.execution.model_copy(update={"soft_box_extra_minutes": extra})
        object.__setattr__(house.house.loaded.settings, "execution", execution)
        (job,) = await a_slow_night(house, tmp_path, agent)
        assert boxed(job)
        assert job.box_warned_at is None
