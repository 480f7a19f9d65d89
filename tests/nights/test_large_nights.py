"""A large night speaks little: what a person must do, each once; what only goes on, in check-ins (RULES 4, 5)."""

from pathlib import Path

from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.terms.asks import AskKind, Tier
from midwatch.terms.records import AskRow, NoticeRow, SessionRow
from midwatch.terms.trust import Level
from tests.nights.eighteen import OwnFile, begins
from tests.nights.scripted import a_scripted_house
from tests.nights.test_first_night import all_is_well
from tests.nights.test_recovery import MISSING, ForgetfulAgent


async def test_eighteen_works_speak_once_for_each_plan_and_a_few_times_besides(tmp_path: Path) -> None:
    """There were 56 notices of tier 2: each plan, each start, each pull request."""
    async with a_scripted_house(tmp_path / "home", agents={"housekeeper": OwnFile()}) as house:
        await begins(house, tmp_path)
        await house.to_the_brief()
        await house.settle()
        result = await house.house.records.find(NoticeRow)
        asks = {row.id for row in await house.house.records.find(AskRow, kind=AskKind.APPROVE_PLAN)}
        assert len(asks) == 18
        besides = [row for row in result if row.tier == Tier.ACTION and row.subject not in asks]
        assert {row.subject for row in result} >= asks
        assert len(besides) <= 7, [row.text for row in besides]
        together = "\n".join(row.text for row in besides)
        for number in range(1, 19):
            begun = f"start in repository-{(number - 1) % 6 + 1}: Improve part {number}"
            assert together.count(f"{begun};") + together.count(f"{begun}.") == 1
        assert together.count("PR ready: Edit something · agent/job_") == 18
        assert together.count("1 file · +1 -0 · checks green · No model requests · ") == 18
        await all_is_well(house)


async def test_a_failed_try_is_told_with_a_check_in_and_only_once(tmp_path: Path) -> None:
    """It asks nothing of a person: it is begun again, and delivered."""
    async with a_scripted_house(tmp_path / "home", agents={"housekeeper": ForgetfulAgent(MISSING, times=2)}) as house:
        await begins(house, tmp_path, works=2, repositories=2, level=Level.FULL)
        await house.to_the_brief()
        await house.settle()
        said = await house.house.records.find(NoticeRow)
        assert not [row for row in said if row.subject.startswith("job_") and row.tier <= Tier.ACTION]
        told = "\n".join(row.text for row in said)
        for number in (1, 2):
            assert told.count(f"- Job {number} (Improve part {number}) failed at plan: The tests could not run") == 1
        assert told.count("- PR ready: ") == 2
        await all_is_well(house)


async def test_what_ends_in_a_paused_night_is_told_at_once_and_not_again(tmp_path: Path) -> None:
    """No round comes there that could tell it later."""
    async with a_scripted_house(tmp_path / "home", agents={"housekeeper": OwnFile()}) as house:
        await begins(house, tmp_path, works=2, repositories=2)
        await house.settle()
        session = await house.house.records.get(SessionRow, "1")
        await steering.pause(house.house.journal, session, by="ann", why="ann wants to look")
        (ask, other) = await house.house.records.find(AskRow)
        await settlement.answer(house.house.books, ask.id, "approve", by="ann")
        await house.settle()
        (ready,) = [row for row in await house.house.records.find(NoticeRow) if "PR ready: " in row.text]
        assert ready.subject == ask.subject
        paused = await house.house.records.get(SessionRow, "1")
        await steering.resume(house.house.journal, house.house.records, paused, by="ann")
        await settlement.answer(house.house.books, other.id, "approve", by="ann")
        await house.to_the_brief()
        await house.settle()
        told = "\n".join(row.text for row in await house.house.records.find(NoticeRow))
        assert told.count("PR ready: ") == 2
        await all_is_well(house)
