"""What wakes a person, and what only tells them: the machine, the sandbox, harm, budgets, check-ins, asks (O12)."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from midwatch.journal.events.crew import ModelCalled
from midwatch.night.commands.code_command import Commanded, command
from midwatch.night.recovery import overdue
from midwatch.terms.acts import ActKind, Proposal
from midwatch.terms.agents import Tokens
from midwatch.terms.asks import Tier
from midwatch.terms.jobs import JobState
from midwatch.terms.orders import Permissions
from midwatch.terms.records import ActRow, AskRow, CheckInRow, JobRow, NoticeRow
from midwatch.terms.trust import Isolation, Level
from tests.nights.brains import TurnsBrain
from tests.nights.house import TestHouse, orders, sample_repository
from tests.nights.scripted import ScriptedAgent, a_scripted_house
from tests.nights.test_facts import SmallMachine
from tests.nights.test_first_night import all_is_well

WAITS_FOR_YOU = Permissions(silence_approves=False)


async def begun(house: TestHouse, folder: Path, **more: Any) -> None:
    await house.project(sample_repository(folder / "sample"))
    given: dict[str, Any] = {"level": Level.CAUTIOUS, "permissions": WAITS_FOR_YOU} | more
    await house.begin(orders("Tidy up", **given))
    await house.settle()


async def notices(house: TestHouse, words: str) -> list[NoticeRow]:
    return [row for row in await house.house.records.find(NoticeRow) if words in row.text]


@pytest.mark.parametrize(("short", "words"), [("memory", "short of memory"), ("disk", "short of disk space")])
async def test_a_machine_that_runs_short_wakes_the_person_once(tmp_path: Path, short: str, words: str) -> None:
    """O12, SPEC 9: tier 1, and no new job starts."""
    machine = SmallMachine()
    setattr(machine, short, 1024**3)
    async with a_scripted_house(tmp_path / "home", machine=machine) as house:
        await begun(house, tmp_path)
        await house.pass_time(minutes=16)
        assert [(row.tier, "1.0 GiB free" in row.text) for row in await notices(house, words)] == [(Tier.URGENT, True)]
        assert await house.house.records.find(JobRow) == ()
        await all_is_well(house)


async def test_a_sandbox_that_got_weaker_wakes_the_person_once(tmp_path: Path) -> None:
    """O12."""
    machine = SmallMachine()
    async with a_scripted_house(tmp_path / "home", machine=machine) as house:
        await begun(house, tmp_path)
        (job,) = await house.house.records.find(JobRow)
        await house.pass_time(minutes=6)
        assert await notices(house, "sandbox") == []
        machine.walls = Isolation.NONE
        await house.pass_time(minutes=11)
        lost = await notices(house, "weaker than when the night began")
        assert [row.tier for row in lost] == [Tier.URGENT]
        assert f"none instead of {job.isolation}" in lost[0].text
        await all_is_well(house)


async def never(name: str, args: dict[str, JsonValue], seq: int) -> None:
    raise AssertionError(f"{name} {args} was lost at {seq}")


async def test_a_command_has_its_alarms_too_though_it_has_no_rounds(tmp_path: Path) -> None:
    """O12: memory, disk and a lost sandbox, once each."""
    machine = SmallMachine()
    async with a_scripted_house(tmp_path / "home", machine=machine) as house:
        await house.project(sample_repository(tmp_path / "sample"))
        wanted = Commanded(sentence="Tidy up", projects=("sample",))
        await command(house.house.books, house.house.crew.agents, house.house.workshop.mirrors, wanted, by="ann")
        await house.settle()
        patrol = overdue.Patrol(
            house.house.books, house.house.night.workspace, house.house.night.outside, never, house.house.duties
        )
        await patrol.once()
        assert await house.house.records.find(CheckInRow) == ()
        machine.memory = machine.disk = 1024**3
        machine.walls = Isolation.NONE
        for _ in range(2):
            await patrol.once()
        for words in ("short of memory", "short of disk space", "weaker than when the command began"):
            assert [row.tier for row in await notices(house, words)] == [Tier.URGENT], words


async def test_work_that_would_do_harm_wakes_the_person_even_without_failure_notices(tmp_path: Path) -> None:
    """O12: a link out of the tree is refused by quarantine, as security and not as one more failure."""
    agents = {"housekeeper": ScriptedAgent(lambda tree: (tree / "sample/away").symlink_to("/etc/passwd"))}
    flags = {"notices.on_error": False, "jobs.max_retries": 3}
    async with a_scripted_house(tmp_path / "home", agents=agents, flags=flags) as house:
        await begun(house, tmp_path, level=Level.FULL)
        job, *_ = await house.house.records.find(JobRow)
        assert job.state is JobState.FAILED
        assert [row.tier for row in await notices(house, "leaves the tree")][:1] == [Tier.URGENT]


async def test_a_job_that_has_used_most_of_its_money_is_told_once(tmp_path: Path) -> None:
    """SPEC 9: 80 % of any budget is an alert, of a job's own as well; half of it is none."""
    async with a_scripted_house(tmp_path / "home") as house:
        await begun(house, tmp_path)
        (job,) = await house.house.records.find(JobRow)
        paid = {"provider": "p", "model": "m", "api": "a", "status": 200, "tokens": Tokens(), "usd_micros": 9_000_000}
        for number in (1, 2):
            called = {**paid, "job": job.id, "epoch": job.epoch, "reservation": f"r{number}"}
            await house.house.journal.record(ModelCalled.model_validate(called))
            await house.pass_time(minutes=6)
            told = await notices(house, "has used 80 % of its money")
            assert len(told) == number - 1
        await house.pass_time(minutes=11)
        (told_once,) = await notices(house, "has used 80 % of its money")
        assert told_once.tier == Tier.ACTION
        assert told_once.text == "Job 1 (Tidy up) has used 80 % of its money: $18 of $20."
        await all_is_well(house)


async def test_progress_is_told_quietly_at_each_check_in(tmp_path: Path) -> None:
    """SPEC 9, S6: progress check-ins are notices of tier 3."""
    async with a_scripted_house(tmp_path / "home") as house:
        await begun(house, tmp_path, level=Level.MODERATE)
        await house.pass_time(minutes=31)
        made = [row for row in await house.house.records.find(CheckInRow) if row.type == "progress"]
        told = await notices(house, "0 of 1 done, 1 waits.")
        assert made
        assert [row.tier for row in told] == [Tier.SUMMARY] * len(made)


async def test_each_ask_has_its_notice(tmp_path: Path) -> None:
    """O12, SPEC 9: a question of the brain waits for nobody who was not told of it."""
    question = Proposal(kind=ActKind.ASK_USER, message="Which of the two?", reason="Both fit.", confidence=0.9)
    async with a_scripted_house(tmp_path / "home", brain=TurnsBrain(lambda _: (question,))) as house:
        await begun(house, tmp_path)
        (act,) = await house.house.records.find(ActRow)
        assert act.state == "done"
        (ask,) = await house.house.records.find(AskRow)
        told = [row for row in await house.house.records.find(NoticeRow) if row.subject == ask.id]
        assert [(row.tier, row.text) for row in told] == [(Tier.ACTION, "Which of the two?")]
