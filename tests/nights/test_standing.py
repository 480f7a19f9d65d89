"""What stays from night to night, the level and what is not to be touched, and what holds for one night only."""

from pathlib import Path
from typing import Any

import pytest

from midwatch.errors import Misuse, Refused
from midwatch.evening import projects as by_day
from midwatch.journal.events.projects import LevelChanged
from midwatch.morning import review
from midwatch.night.commands.code_command import Commanded, command
from midwatch.surfaces.queries.replay import every_entry
from midwatch.terms.asks import AskState, Silence
from midwatch.terms.jobs import JobState
from midwatch.terms.orders import LINES, Limits, OrderedPart, OrderedWork, Orders
from midwatch.terms.records import AskRow, JobRow, RunRow, SessionRow, StandingRow
from midwatch.terms.report import FlagKind, Review
from midwatch.terms.trust import Level
from tests.nights.brains import TurnsBrain
from tests.nights.house import TestHouse, orders, sample_repository
from tests.nights.scripted import GOOD, PlanningAgent, ScriptedAgent, a_scripted_house
from tests.nights.test_first_night import all_is_well

FINE = Review(usefulness=5, trust=5, brevity=5)
SHORT = Limits(rounds=12)
"""For a night that only waits: it would do so five hundred times."""


async def standing(house: TestHouse) -> Level:
    return await by_day.current_level(house.house.records, house.house.loaded.settings)


async def a_night(house: TestHouse, *flags: FlagKind, reviewed: bool = True, **more: Any) -> SessionRow:
    """Live through a night and review it."""
    await house.begin(orders("Tidy up", **({"level": Level.FULL} | more)))
    night = await house.to_the_brief()
    await house.settle()
    if reviewed:
        await review.submit(house.house.books, FINE.model_copy(update={"flags": flags}), by="ann")
    await house.pass_time(hours=24)
    return night


async def test_a_night_at_full_leaves_the_standing_level_as_it_was(tmp_path: Path, database_url: str) -> None:
    """RULES 1: a level in signed orders holds for that night only, and counts as forced."""
    async with a_scripted_house(tmp_path / "home", database_url) as house:
        await house.project(sample_repository(tmp_path / "sample"))
        before = await standing(house)
        assert before is Level.OBSERVE
        night = await house.begin(orders("Tidy up", level=Level.FULL))
        assert (night.level, await standing(house)) == (Level.FULL, before)
        await house.to_the_brief()
        assert await standing(house) is before
        entries = await every_entry(house.house)
        (changed,) = [entry.event for entry in entries if isinstance(entry.event, LevelChanged)]
        assert (changed.session, changed.forced, changed.previous) == (night.id, True, Level.OBSERVE)
        await all_is_well(house)


async def test_a_night_can_be_lowered_whatever_its_orders_say(tmp_path: Path) -> None:
    """RULES 1: cautious is not earned here, and less than full all the same."""
    async with a_scripted_house(tmp_path / "home", brain=TurnsBrain()) as house:
        await house.project(sample_repository(tmp_path / "sample"))
        night = await house.begin(orders("Tidy up", level=Level.FULL, limits=SHORT))
        await by_day.set_level(house.house.books, Level.CAUTIOUS, by="ann")
        assert (await house.house.records.get(SessionRow, night.id)).level is Level.CAUTIOUS
        assert await standing(house) is Level.OBSERVE
        with pytest.raises(Refused, match="12 valid rounds"):
            await by_day.set_level(house.house.books, Level.MODERATE, by="ann")
        await by_day.set_level(house.house.books, Level.OBSERVE, by="ann")
        assert (await house.house.records.get(SessionRow, night.id)).level is Level.OBSERVE
        await house.to_the_brief()
        await all_is_well(house)


async def test_a_lower_level_in_the_settings_lowers_a_running_night(tmp_path: Path, database_url: str) -> None:
    """C2: until a person sets a standing level, it is the settings' one."""
    async with a_scripted_house(tmp_path / "home", database_url, brain=TurnsBrain()) as house:
        await house.project(sample_repository(tmp_path / "sample"))
        night = await house.begin(orders("Tidy up", level=Level.FULL, limits=SHORT))
        books = house.house.books
        for level, left in (("full", Level.FULL), ("cautious", Level.CAUTIOUS), ("moderate", Level.CAUTIOUS)):
            proposed = await by_day.propose_settings(books, {"gate.level": level}, by="ann")
            await by_day.apply_settings(books, proposed.id, by="ann")
            assert (await house.house.records.get(SessionRow, night.id)).level is left
        await house.to_the_brief()
        await all_is_well(house)


async def test_an_older_entry_of_the_level_still_takes_running_nights_along(tmp_path: Path, database_url: str) -> None:
    async with a_scripted_house(tmp_path / "home", database_url, brain=TurnsBrain()) as house:
        await house.project(sample_repository(tmp_path / "sample"))
        night = await house.begin(orders("Tidy up", level=Level.CAUTIOUS, limits=SHORT))
        older = LevelChanged(level=Level.FULL, previous=Level.OBSERVE)
        await house.house.journal.record(older, actor="ann")
        assert (await house.house.records.get(SessionRow, night.id)).level is Level.FULL
        await house.to_the_brief()
        await all_is_well(house)


async def test_each_step_needs_three_nights_since_the_last_change_of_level(tmp_path: Path) -> None:
    """O5: nights before the change do not count, nor one that still runs, nor any before a flag of high severity."""
    async with a_scripted_house(tmp_path / "home") as house:
        evening = house.house.evening
        await house.project(sample_repository(tmp_path / "sample"))
        await a_night(house)
        await by_day.set_level(evening.books, Level.CAUTIOUS, by="ann", forced=True, reason="I watched it")
        for nights in range(3):
            assert (await by_day.track_record(house.house.records)).clean_nights == nights
            with pytest.raises(Refused, match=f"3 nights.*{nights}"):
                await by_day.set_level(evening.books, Level.MODERATE, by="ann")
            await a_night(house, reviewed=nights != 1)
        with pytest.raises(Refused, match="6 nights"):
            await by_day.set_level(evening.books, Level.FULL, by="ann")
        await by_day.set_level(evening.books, Level.CAUTIOUS, by="ann")
        await by_day.set_level(evening.books, Level.MODERATE, by="ann")
        assert (await by_day.track_record(house.house.records)).clean_nights == 0
        running = await house.begin(orders("Tidy up", level=Level.CAUTIOUS))
        assert running.started_at
        assert (await by_day.track_record(house.house.records)).clean_nights == 0
        (row,) = await house.house.records.find(StandingRow)
        assert row.level is Level.MODERATE


@pytest.mark.parametrize(("flag", "clean"), [(FlagKind.UNSAFE, 1), (FlagKind.WRONG_FACT, 1)])
async def test_a_flag_of_high_severity_breaks_the_row_of_clean_nights(
    tmp_path: Path, flag: FlagKind, clean: int
) -> None:
    """O5, RULES 6: unsafe behaviour, or a wrong fact under a claim marked strong (these checks were green)."""
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(sample_repository(tmp_path / "sample"))
        await a_night(house)
        await a_night(house, flag)
        await a_night(house)
        assert (await by_day.track_record(house.house.records)).clean_nights == clean


async def test_what_a_project_protects_is_protected_every_night(tmp_path: Path, database_url: str) -> None:
    """A6: no order names it, and plan, contract, quarantine and prompt know it, for commands as well."""
    agent = PlanningAgent(GOOD, ("README.md",))  # it says one thing and does another
    async with a_scripted_house(tmp_path / "home", database_url, agents={"housekeeper": agent}) as house:
        await house.project(sample_repository(tmp_path / "sample"))
        await by_day.change_project(house.house.books, "sample", by="ann", do_not_touch=("sample/greet.py", ""))
        await a_night(house, reviewed=False, do_not_touch=("docs/**",))
        job, *_ = await house.house.records.find(JobRow)
        assert job.state is JobState.FAILED
        assert "sample/greet.py" in job.why
        run, *_ = await house.house.records.find(RunRow)
        assert run.contract.constraints.do_not_touch == ("docs/**", "sample/greet.py")
        assert agent.told[0].do_not_touch == ("docs/**", "sample/greet.py")
        await command(
            house.house.books,
            house.house.crew.agents,
            house.house.workshop.mirrors,
            Commanded(sentence="Tidy up", projects=("sample",), yes=True),
            by="ann",
        )
        await house.settle()
        assert (await house.house.records.find(RunRow))[-1].contract.constraints.do_not_touch == ("sample/greet.py",)
        await all_is_well(house)


async def test_each_repository_of_one_work_keeps_its_own_protected_paths(tmp_path: Path) -> None:
    """A6, X16."""
    agents = {"housekeeper": ScriptedAgent(GOOD)}
    async with a_scripted_house(tmp_path / "home", agents=agents) as house:
        for name, protected in (("one", ("secret/**",)), ("two", ())):
            await house.project(sample_repository(tmp_path / name), name=name)
            await by_day.change_project(house.house.books, name, by="ann", do_not_touch=protected)
        work = OrderedWork(projects=("one", "two"), title="Tidy up", parts=(OrderedPart(project="two"),))
        await house.begin(orders(level=Level.FULL, work=(work,)))
        await house.settle()
        (run,) = await house.house.records.find(RunRow)
        assert [part.do_not_touch for part in run.contract.parts] == [("secret/**",), ()]
        with pytest.raises(Misuse):
            await by_day.change_project(house.house.books, "one", by="ann", do_not_touch=("!",))


async def test_orders_without_permissions_or_limits_are_read_carefully(tmp_path: Path) -> None:
    """A7: silence approves nothing that nobody wrote, and the budget is the small one."""
    async with a_scripted_house(tmp_path / "home", agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        await house.project(sample_repository(tmp_path / "sample"))
        work = (OrderedWork(project="sample", title="Tidy up"),)
        session = await house.begin(Orders(level=Level.CAUTIOUS, goals=("Tidy",), work=work))
        assert (session.orders.limits.usd, session.orders.limits.tokens) == (5, 2_000_000)
        assert session.orders.unsaid == LINES[1:]
        await house.settle()
        (ask,) = await house.house.records.find(AskRow)
        assert (ask.silence, ask.due_at) == (Silence.WAITS, None)
        await house.pass_time(hours=2)
        assert (await house.house.records.get(AskRow, ask.id)).state is AskState.OPEN
