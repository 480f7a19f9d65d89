"""The patrol: what fails in one of its duties stops no other, is tried ever less often, and is said once (W6, X3)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa
from pydantic import JsonValue

from midwatch.errors import Broken
from midwatch.journal.events.session import AskWithdrawn
from midwatch.journal.events.workshop import CheckoutRemoved
from midwatch.night.notify.notice import notice
from midwatch.night.recovery.due_words import in_words
from midwatch.night.recovery.overdue import Patrol
from midwatch.night.timers import SERVED
from midwatch.store.schema.tables import timers
from midwatch.surfaces.queries.status import status
from midwatch.terms.asks import AskState, Tier
from midwatch.terms.records import AskRow, JobRow, NoticeRow, SessionRow, TimerRow
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
        assert trouble.startswith(
            f"{TIDYING} failed 1 time in a row: {home}/checkouts/job_b/1 could not be cleaned up: "
        )
        assert trouble.endswith(". 1 folder stays for now.")
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
        assert trouble.startswith("Ending the night at its time limit failed ")


async def test_a_wait_is_tried_each_minute_a_new_time_at_once_and_one_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    """A new deadline used to sit out the pause of the one before it, up to an hour, and what was gone was reported."""
    async with a_house(tmp_path / "home", agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        await begun(house, tmp_path)

        async def times() -> str:
            await house.house.timers.serve_due()
            return house.house.troubles()[0].split(" failed ")[1].split()[0]

        with sa.create_engine(house.house.url).connect() as connection:
            bad = {"id": "bad", "kind": "box", "subject": "nothing", "due_at": house.clock.now()}
            connection.execute(timers.insert().values(**bad))
            connection.commit()
            tries = []
            for _ in range(10):
                tries.append(await times())
                house.clock.jump_to(house.clock.now() + timedelta(minutes=1))
            assert tries == [str(number) for number in range(1, 11)]
            assert await times() == "11"
            (said,) = await said_of(house, "Watching the time of a job failed 2 times in a row: ")
            assert said.endswith("Midwatch tries it again, each minute; everything else goes on.")
            connection.execute(timers.update().values(due_at=house.clock.now()).where(timers.c.id == "bad"))
            connection.commit()
            assert await times() == "1"
            connection.execute(timers.delete().where(timers.c.id == "bad"))
            connection.commit()
        await house.house.timers.serve_due()
        assert house.house.troubles() == ()


async def test_what_is_due_is_said_in_words(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home", agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        await begun(house, tmp_path, Level.CAUTIOUS)
        ask = await until_asked(house)
        (job,) = await house.house.records.find(JobRow)
        subjects = {"ask": ask.id, "job": job.id, "box": job.id, "channel": "phone", "stack": "stk"}
        rows = [
            TimerRow(id=kind, kind=kind, subject=subjects.get(kind, "1"), due_at=house.clock.now()) for kind in SERVED
        ]
        assert [await in_words(house.house.records, row) for row in rows] == [
            "Calling the next round of the night",
            "Ending the wait for an answer to ask 1",
            "Ending the night at its time limit",
            "Resuming job 1 at its time",
            "Watching the time of job 1",
            "Sending waiting notices over phone",
            "Ending the wait for a stack",
            "Ending the review of the night at its time",
        ]


async def test_one_piece_of_lost_work_that_fails_does_not_slow_the_others(tmp_path: Path) -> None:
    """One broken item used to put the whole duty into pauses of up to an hour."""
    async with a_house(tmp_path / "home", agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        await begun(house, tmp_path)
        books, tried = house.house.books, list[JsonValue]()
        lost = [notice(books.ids, "1", Tier.ACTION, "Lost.", subject="1") for _ in range(3)]
        await books.journal.record(*lost)
        bad, good = {one.notice for one in lost[:2]}, lost[2].notice

        async def perform(_: str, args: dict[str, JsonValue], __: int) -> None:
            tried.append(args["notice"])
            if args["notice"] in bad:
                raise Broken("It is broken.", hint="")

        patrol = Patrol(books, house.house.night.workspace, house.house.night.outside, perform, house.house.duties)
        for _ in range(29):
            house.clock.jump_to(house.clock.now() + timedelta(minutes=1))
            await patrol.once()
        assert tried.count(good) >= 27, "each minute, once it is overdue"
        assert {tried.count(one) for one in bad} == {5}
        told = "Carrying out lost work failed 5 times in a row: It is broken."
        assert house.house.troubles() == (f"{told} It fails for 1 more.",)
        assert len(await said_of(house, "Carrying out lost work")) == 1
        bad.clear()
        house.clock.jump_to(house.clock.now() + timedelta(hours=1))
        await patrol.once()
        assert house.house.troubles() == ()
        assert (await said_of(house, "Carrying out lost work"))[1:] == ["Carrying out lost work works again."]


async def test_a_trouble_is_one_short_line_without_secrets(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home", agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        secret = "an-answer-that-nobody-else-may-read"
        house.house.redactor.know({"forge": secret})

        async def asks_the_database() -> None:
            with sa.create_engine(house.house.url).connect() as connection:
                connection.execute(sa.text("select * from no_table where x = :x"), {"x": "someone's words"})

        async def says_too_much() -> None:
            raise Broken(f"It is\n{secret}\x1b[31m: {'x' * 1_000}", hint="")

        await house.house.duties.carry_out("One", asks_the_database)
        await house.house.duties.carry_out("Two", says_too_much)
        one, two = (await status(house.house)).troubles
        assert (
            one == "One failed 1 time in a row: OperationalError: (sqlite3.OperationalError) no such table: no_table."
        )
        assert secret not in two
        assert two.startswith("Two failed 1 time in a row: It is ")
        assert two.isprintable()
        assert len(two) < 350
