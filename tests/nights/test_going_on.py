"""Work that goes on in another job: whose checkout it finds, and where it takes the work up (A10, O8)."""

from pathlib import Path
from typing import Any

import pytest

from midwatch.errors import Broken, Refused
from midwatch.forges.local import LocalForge
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.ports.agent import Task
from midwatch.rules.people.asks import GO_ON
from midwatch.terms.jobs import Done, JobState, Plan, Stage
from midwatch.terms.records import ActRow, JobRow
from midwatch.terms.trust import Level
from midwatch.workshop.workshop import CheckoutProofs
from tests.nights.house import TestHouse, a_house, git
from tests.nights.scripted import GOOD, ScriptedAgent
from tests.nights.test_first_night import all_is_well
from tests.nights.test_recovery import begun, until_asked

UNTRUSTED = "server certificate verification failed"


class CountingAgent(ScriptedAgent):
    """Remembers which files of its own it found in each checkout; the first times it leaves its work half done."""

    def __init__(self, half: int = 0) -> None:
        super().__init__(GOOD)
        self._half = half
        self.found: list[bool] = []

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        tree = assignment.room.tree
        self.found.append((tree / "half.txt").exists() or "Edit something" in git(tree, "log", "--format=%s"))
        if len(self.found) <= self._half:
            (tree / "half.txt").write_text("half\n")
            raise Broken(UNTRUSTED)
        (tree / "half.txt").unlink(missing_ok=True)
        return await super().execute(assignment, plan)


async def resumed(house: TestHouse, job: JobRow) -> JobRow:
    return await steering.resume_job(house.house.books, await house.house.records.get(JobRow, job.id), by="ann")


async def stopped_at_once(house: TestHouse, job: JobRow) -> JobRow:
    await steering.stop_job(house.house.books, house.house.workshop.rooms, job, by="ann", why="wait")
    await house.settle()
    over = await house.house.records.get(JobRow, job.id)
    assert over.state is JobState.STOPPED
    return over


async def ended(house: TestHouse, job: JobRow) -> JobRow:
    await house.settle()
    return await house.house.records.get(JobRow, job.id)


async def test_a_restart_on_a_newer_base_begins_in_a_checkout_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same plan again is no reason to carry commits over that do not descend from the new base."""
    real, tried = LocalForge.deliver, []

    async def deliver(self: LocalForge, *given: Any) -> Any:
        tried.append(1)
        if len(tried) == 1:
            source = tmp_path / "sample"
            (source / "other.txt").write_text("a person moved on\n")
            git(source, "add", "-A")
            git(source, "commit", "-qm", "A person moved on")
            raise Broken("CONFLICT (content): Merge conflict in sample/greet.py")
        return await real(self, *given)

    monkeypatch.setattr(LocalForge, "deliver", deliver)
    agent = CountingAgent()
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await begun(house, tmp_path)
        await house.to_the_brief()
        first, second = await house.house.records.find(JobRow)
        assert (first.cause, second.retry_of, second.plan_hash) == ("conflict", first.id, first.plan_hash)
        assert second.state is JobState.DONE, second.why
        assert agent.found == [False, False]
        await all_is_well(house)


async def test_finished_work_is_found_however_often_it_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, broken = CheckoutProofs.prove, [True]

    async def prove(self: CheckoutProofs, request: Any) -> Any:
        if broken:
            raise Broken(UNTRUSTED)
        return await real(self, request)

    monkeypatch.setattr(CheckoutProofs, "prove", prove)
    agent = CountingAgent()
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await begun(house, tmp_path)
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        broken.clear()
        for _ in range(2):
            job = await resumed(house, job)
            assert job.stage is Stage.BUNDLE
            job = await stopped_at_once(house, job)
        last = await ended(house, await resumed(house, job))
        assert (last.state, len(agent.found)) == (JobState.DONE, 1), last.why
        await all_is_well(house)


async def test_half_done_work_is_found_though_a_resumed_job_never_came_to_it(tmp_path: Path) -> None:
    agent = CountingAgent(half=1)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await begun(house, tmp_path)
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        second = await resumed(house, job)
        assert second.stage is Stage.EXECUTE
        second = await stopped_at_once(house, second)
        last = await ended(house, await resumed(house, second))
        assert (last.state, agent.found) == (JobState.DONE, [False, True]), last.why
        await all_is_well(house)


@pytest.mark.parametrize("thrown_away", [False, True])
async def test_a_persons_go_on_after_a_forges_refusal_delivers_the_work_that_was_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, thrown_away: bool
) -> None:
    """Nothing is worked again, unless the checkout is gone."""
    real, refusing = LocalForge.deliver, [True]

    async def deliver(self: LocalForge, *given: Any) -> Any:
        if refusing:
            raise Refused("agent/x is protected there.", hint="Let agent/* be written.")
        return await real(self, *given)

    monkeypatch.setattr(LocalForge, "deliver", deliver)
    agent = CountingAgent()
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await begun(house, tmp_path, Level.FULL)
        ask = await until_asked(house)
        (first,) = await house.house.records.find(JobRow)
        refusing.clear()
        if thrown_away:
            await steering.discard(house.house.journal, house.house.workshop.upkeep, first, by="ann", force=True)
        await settlement.answer(house.house.books, ask.id, GO_ON, by="ann")
        await house.to_the_brief()
        first, second = await house.house.records.find(JobRow)
        assert (first.stage, second.state, second.retry_of) == (Stage.DELIVER, JobState.DONE, first.id), second.why
        assert len(agent.found) == (2 if thrown_away else 1)
        (act,) = await house.house.records.find(ActRow, kind="restart", state="done")
        assert second.act == act.id, "it went through the gate"
        await all_is_well(house)
