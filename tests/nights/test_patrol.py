"""The patrol: what fails in one of its duties stops no other, is tried ever less often, and is said once (W6, X3)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from midwatch.journal.events.session import AskWithdrawn
from midwatch.journal.events.workshop import CheckoutRemoved
from midwatch.store.schema.tables import timers
from midwatch.surfaces.queries.status import status
from midwatch.terms.asks import AskState
from midwatch.terms.records import AskRow, NoticeRow, SessionRow
from midwatch.terms.trust import Level
from tests.nights.house import TestHouse, a_house
from tests.nights.scripted import GOOD, ScriptedAgent
from tests.nights.test_first_night import all_is_well
from tests.nights.test_recovery import begun, until_asked

MONTHS_LATER = datetime.now(UTC) + timedelta(days=90)
TIDYING = "Removing old checkouts"


async def said_of(house: TestHouse, duty: str) -> list[str]:
    return [row.text for row in await house.house.records.find(NoticeRow) if row.text.startswith(duty)]


async def removed(house: TestHouse) -> set[str]:
    entries = await house.house.journal.entries(kinds=("checkout.removed",))
    return {entry.event.job for entry in entries if isinstance(entry.event, CheckoutRemoved)}


async def test_one_bad_checkout_stops_no_other_and_is_said_once_and_taken_back(tmp_path: Path) -> None:
    """3,000 folders inside each other used to stop all cleaning up, waking and catching up, again each second."""
    home = tmp_path / "home"
    async with a_house(home, begins=MONTHS_LATER, agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        await begun(house, tmp_path)
        for job in ("job_a", "job_b", "job_c"):
            (home / "checkouts" / job / "1" / "tree").mkdir(parents=True)
        (home / "checkouts" / "job_b.lock").mkdir()  # it can be neither taken nor held
        patrol = house.house.patrol()
        await patrol.tidy()
        assert await removed(house) == {"job_a", "job_c"}
        (trouble,) = house.house.troubles()
        assert trouble.startswith(f"{TIDYING} failed 1 time in a row: Of job job_b, it could not be cleaned up: ")
        assert (await status(house.house)).troubles == (trouble,)
        assert await said_of(house, TIDYING) == []  # it may have been busy
        tries = []
        for _ in range(6 * 60):
            await patrol.tidy()
            house.clock.jump_to(house.clock.now() + timedelta(minutes=1))
            tries.append(house.house.troubles()[0].split()[4])
        gaps = [tries.count(str(number)) for number in range(1, 20)]
        assert gaps[:7] == [1, 2, 4, 8, 16, 32, 60], "each pause is longer, up to an hour"
        assert len([said for said in await said_of(house, TIDYING) if " failed 2 times in a row: " in said]) == 1
        assert len(await said_of(house, TIDYING)) == 1
        (home / "checkouts" / "job_b.lock").rmdir()
        house.clock.jump_to(house.clock.now() + timedelta(hours=1))
        await patrol.tidy()
        assert await removed(house) == {"job_a", "job_b", "job_c"}
        assert house.house.troubles() == ()
        assert (await said_of(house, TIDYING))[1:] == [f"{TIDYING} works again."]
        await all_is_well(house)


async def test_a_duty_that_fails_does_not_keep_lost_work_from_being_found(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with a_house(home, agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        await begun(house, tmp_path, Level.CAUTIOUS)
        lost = await until_asked(house)
        await house.house.journal.record(AskWithdrawn(ask=lost.id, why="lost"))
        odd = home / "held" / "job_x" / "epoch-of-nothing"
        odd.mkdir(parents=True)  # the list of processes cannot be read
        patrol = house.house.patrol()
        assert await patrol.once() == 0
        assert [trouble.partition(" failed")[0] for trouble in house.house.troubles()] == ["Ending lost processes"]
        house.clock.jump_to(house.clock.now() + timedelta(minutes=3))
        assert await patrol.once() == 1
        (ask,) = await house.house.records.find(AskRow, state=AskState.OPEN)
        assert ask.question == lost.question
        odd.rmdir()
        house.clock.jump_to(house.clock.now() + timedelta(minutes=3))
        await patrol.once()
        assert house.house.troubles() == ()
        await all_is_well(house)


async def test_one_wait_that_cannot_end_keeps_no_other_from_ending(tmp_path: Path) -> None:
    """The first of the rows that were due ended the loop, and each time it was the first again."""
    home = tmp_path / "home"
    async with a_house(home, agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        await begun(house, tmp_path)
        with sa.create_engine(house.house.url).begin() as connection:
            bad = {"id": "bad", "kind": "session_limit", "subject": "nothing", "due_at": house.clock.now()}
            connection.execute(timers.insert().values(**bad))
        before = (await house.house.records.get(SessionRow, "1")).rounds
        house.clock.jump_to(house.clock.now() + timedelta(minutes=30))
        await house.settle()
        assert (await house.house.records.get(SessionRow, "1")).rounds > before
        (trouble,) = house.house.troubles()
        assert trouble.startswith("What is due for nothing (session_limit) failed ")
