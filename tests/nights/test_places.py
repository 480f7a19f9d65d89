"""Places for jobs at work: a job that waits leaves its place, and takes one again before it goes on (RULES 2, 3, 9)."""

from pathlib import Path

import pytest

from midwatch.journal.events.jobs import JobEnded
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.night.recovery import overdue
from midwatch.surfaces.web.stream.live_regions import Painter
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.records import AskRow, JobRow
from tests.nights.eighteen import OwnFile, begins
from tests.nights.house import TestHouse
from tests.nights.scripted import a_scripted_house
from tests.nights.test_alarms import WAITS_FOR_YOU
from tests.nights.test_first_night import all_is_well

PLACES = {"jobs.max_in_all": 2}
AGENTS = {"housekeeper": OwnFile()}


async def jobs_at(house: TestHouse, stage: Stage, state: JobState) -> list[int]:
    return [row.number for row in await house.house.records.find(JobRow, stage=stage, state=state)]


async def approve_all(house: TestHouse) -> None:
    for ask in await house.house.records.find(AskRow, state=AskState.OPEN):
        await settlement.answer(house.house.books, ask.id, "approve", by="ann")


async def test_plans_that_wait_for_a_person_stop_no_other_work(tmp_path: Path) -> None:
    """Five unapproved plans held all places of the night."""
    async with a_scripted_house(tmp_path / "home", agents=AGENTS, flags=PLACES) as house:
        await begins(house, tmp_path, works=6, permissions=WAITS_FOR_YOU)
        await house.pass_time(minutes=26)
        assert await jobs_at(house, Stage.APPROVE, JobState.WAITING) == [1, 2, 3, 4, 5, 6]
        await approve_all(house)
        await house.to_the_brief()
        await house.settle()
        assert await jobs_at(house, Stage.NOTICE, JobState.DONE) == [1, 2, 3, 4, 5, 6]
        await all_is_well(house)


async def test_approved_work_takes_a_place_again_the_oldest_first(tmp_path: Path) -> None:
    """Approved all at once, two are at work at a time, and the page says what the others wait for."""
    seen: list[tuple[list[int], list[int]]] = []
    shown: set[str] = set()
    async with a_scripted_house(tmp_path / "home", agents=AGENTS, flags=PLACES) as house:
        await begins(house, tmp_path, works=6, permissions=WAITS_FOR_YOU)
        await house.pass_time(minutes=26)
        await approve_all(house)
        while house.engine.ready:
            work, seq = house.engine.ready.popleft()
            await house.house.performer.perform(work.name, work.args, seq)
            rows = await house.house.records.find(JobRow)
            running = [row.number for row in rows if row.state is JobState.RUNNING]
            waiting = [row.number for row in rows if row.state is JobState.WAITING and row.stage is Stage.EXECUTE]
            shown |= {row.waits_for for row in rows if row.state is JobState.WAITING and row.stage is Stage.EXECUTE}
            for words in shown:
                assert words in (await Painter(house.house).draw(("jobs",)))["jobs"].striptags() or not waiting
            seen.append((running, waiting))
        assert max(len(running) for running, _ in seen) == 2
        assert max(len(waiting) for _, waiting in seen) >= 3
        rows = await house.house.records.find(JobRow)
        assert [row.number for row in sorted(rows, key=lambda row: str(row.ended_at))] == [1, 2, 3, 4, 5, 6]
        assert shown == {"No more than 2 jobs may be at work; it continues when one of them ends or waits."}
        await house.to_the_brief()
        await house.settle()
        await all_is_well(house)


async def test_work_is_not_started_before_approved_work_that_waits_for_a_place(tmp_path: Path) -> None:
    async with a_scripted_house(tmp_path / "home", agents=AGENTS, flags={"jobs.max_in_all": 1}) as house:
        await begins(house, tmp_path, works=3, repositories=3, permissions=WAITS_FOR_YOU)
        await house.pass_time(minutes=6)
        assert await jobs_at(house, Stage.APPROVE, JobState.WAITING) == [1, 2]
        await approve_all(house)
        await house.settle()
        first, second, third = await house.house.records.find(JobRow)
        assert first.ended_at is not None
        assert second.ended_at is not None
        assert second.ended_at < third.created_at
        await approve_all(house)
        await house.to_the_brief()
        await all_is_well(house)


@pytest.mark.parametrize("how", ["stopped", "over"])
async def test_work_that_waits_for_a_place_can_be_stopped(tmp_path: Path, how: str) -> None:
    async with a_scripted_house(tmp_path / "home", agents=AGENTS, flags={"jobs.max_in_all": 1}) as house:
        await begins(house, tmp_path, works=2, repositories=2, permissions=WAITS_FOR_YOU)
        await house.pass_time(minutes=6)
        await approve_all(house)
        for _ in range(4):  # two answers are carried out; the first job begins, the second finds no place
            work, seq = house.engine.ready.popleft()
            await house.house.performer.perform(work.name, work.args, seq)
        assert await jobs_at(house, Stage.EXECUTE, JobState.WAITING) == [2]
        if how == "stopped":
            job = await house.house.records.get(JobRow, "2")
            await steering.stop_job(house.house.books, house.house.night.workspace.rooms, job, by="ann", why="not now")
        else:
            await settlement.debrief(house.house.books, "1", "ann stopped it", actor="ann")
        await house.settle()
        second = await house.house.records.get(JobRow, "2")
        assert (second.state, second.stage) == (JobState.STOPPED, Stage.EXECUTE)
        await house.to_the_brief()
        await house.settle()
        await all_is_well(house)


async def test_a_place_that_nobody_handed_out_is_found_by_the_patrol(tmp_path: Path) -> None:
    async with a_scripted_house(tmp_path / "home", agents=AGENTS, flags={"jobs.max_in_all": 1}) as house:
        await begins(house, tmp_path, works=2, repositories=2, permissions=WAITS_FOR_YOU)
        await house.pass_time(minutes=6)
        await approve_all(house)
        for _ in range(4):
            work, seq = house.engine.ready.popleft()
            await house.house.performer.perform(work.name, work.args, seq)
        first, second = await house.house.records.find(JobRow)
        assert (first.state, second.state) == (JobState.RUNNING, JobState.WAITING)
        ended = JobEnded(job=first.id, epoch=first.epoch, state="stopped", why="Its machine is gone.")
        await house.house.journal.record(ended)
        house.engine.ready.clear()  # what followed it is lost
        perform = house.house.performer.perform
        patrol = overdue.Patrol(
            house.house.books, house.house.night.workspace, house.house.night.outside, perform, house.house.duties
        )
        house.clock.jump_to(house.clock.now() + overdue.OVERDUE * 2)
        await patrol.once()
        await house.settle()
        assert (await house.house.records.get(JobRow, second.id)).state is JobState.DONE
        await house.to_the_brief()
        await house.settle()
        await all_is_well(house)
