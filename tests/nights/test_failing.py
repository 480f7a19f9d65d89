"""Failures nobody's work is to blame for: what they are called, and that a person is asked (O8, SPEC 9)."""

from pathlib import Path
from typing import Any

import pytest

from midwatch.errors import Broken, Refused, Withheld
from midwatch.forges.local import LocalForge
from midwatch.night.jobs import stages
from midwatch.ports.agent import Task
from midwatch.terms.jobs import Done, JobState, Plan, Stage
from midwatch.terms.records import JobRow
from midwatch.terms.trust import Level
from midwatch.workshop.workshop import CheckoutProofs
from tests.nights.house import a_house
from tests.nights.scripted import GOOD, ScriptedAgent
from tests.nights.test_first_night import all_is_well
from tests.nights.test_going_on import CountingAgent
from tests.nights.test_recovery import begun, until_asked


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("agent/x is protected there.", "auth"),
        ("The repository is archived.", "auth"),
        ("remote: 3 failed, 12 passed; pre-receive hook declined", "auth"),
        ("SSL certificate problem: unable to get local issuer certificate", "tls"),
    ],
)
async def test_what_a_forge_refuses_is_asked_about_and_not_worked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, cause: str
) -> None:
    async def deliver(*_: Any) -> Any:
        raise Refused(said, hint="Let agent/* be written, then resume the job.")

    monkeypatch.setattr(LocalForge, "deliver", deliver)
    agent = CountingAgent()
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await begun(house, tmp_path, Level.FULL)
        ask = await until_asked(house)
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, job.stage, job.cause) == (JobState.FAILED, Stage.DELIVER, cause)
        assert "the work itself is wrong" not in ask.question
        assert len(agent.found) == 1
        await all_is_well(house)


async def test_what_only_a_person_can_allow_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def weak(*_: Any) -> None:
        raise Withheld("This machine has no sandbox for housekeeper.")

    monkeypatch.setattr(stages, "_refuse_weak_walls", weak)
    async with a_house(tmp_path / "home", agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        await begun(house, tmp_path, Level.FULL)
        ask = await until_asked(house)
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, job.stage, ask.subject) == (JobState.FAILED, Stage.EXECUTE, job.id)
        await all_is_well(house)


class Talkative(CountingAgent):
    """Writes into its log what would be a limit, had a provider said it; then does its work, or fails."""

    log: Any
    fails = False

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        self.log(assignment.job, "agent").write_text("ERROR: You've hit your usage limit.\n")
        if self.fails:
            raise Broken("It ended: exit 1")
        return await super().execute(assignment, plan)


async def test_an_agents_old_words_do_not_name_what_failed_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def prove(*_: Any) -> Any:
        raise Broken("The tree could not be read: exit 128")

    monkeypatch.setattr(CheckoutProofs, "prove", prove)
    agent = Talkative()
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        agent.log = house.house.workshop.rooms.log
        await begun(house, tmp_path, Level.FULL)
        await until_asked(house)
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, job.cause, job.waits) == (JobState.FAILED, "unknown", 0)
        await all_is_well(house)


async def test_a_limit_read_out_of_words_is_waited_for_three_times_at_most(tmp_path: Path) -> None:
    agent = Talkative()
    agent.fails = True
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        agent.log = house.house.workshop.rooms.log
        await begun(house, tmp_path, Level.FULL)
        await until_asked(house)
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, job.cause, job.waits, len(job.failures)) == (JobState.FAILED, "limit", 2, 3)
        await all_is_well(house)
