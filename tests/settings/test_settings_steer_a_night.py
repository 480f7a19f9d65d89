"""Settings written into the house's file change what a real night does."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue

from midwatch.errors import Refused
from midwatch.evening.projects import set_level
from midwatch.night.asks import settlement
from midwatch.terms.acts import ActKind, BrainAnswer, Proposal, Sense
from midwatch.terms.asks import Tier
from midwatch.terms.jobs import JobState
from midwatch.terms.orders import Limits
from midwatch.terms.records import ActRow, AskRow, CheckInRow, JobRow, NoticeRow, ReportRow, SessionRow, TimerRow
from midwatch.terms.trust import Level
from tests.nights.house import EVENING, TestHouse, a_house, orders, sample_repository
from tests.nights.test_recovery import MISSING, ForgetfulAgent, until_asked


class ScriptedBrain:
    """Says the same every round."""

    name = "scripted"

    def __init__(self, *proposals: Proposal, wish: int | None = None) -> None:
        self._answer = BrainAnswer(summary="As before.", proposals=proposals, next_in_seconds=wish)

    async def propose(self, _: Sense) -> BrainAnswer:
        return self._answer


def settings_file(folder: Path, **values: JsonValue) -> Path:
    """A data folder whose file says this; `rounds__max_proposals=1` is rounds.max_proposals."""
    folder.mkdir()
    lines = [f"{name.replace('__', '.')} = {json.dumps(value)}\n" for name, value in values.items()]
    (folder / "midwatch.toml").write_text("".join(lines))
    return folder


def since_evening(at: datetime | None) -> timedelta:
    """In whole seconds: the stepped clock moves a little whenever somebody looks at it."""
    assert at is not None
    return timedelta(seconds=round((at - EVENING).total_seconds()))


async def begun(
    house: TestHouse, source: Path, *, level: Level = Level.CAUTIOUS, limits: Limits | None = None
) -> SessionRow:
    await house.project(sample_repository(source))
    session = await house.begin(orders("Tidy up", level=level, limits=limits or Limits()))
    await house.settle()
    return session


WAIT = Proposal(kind=ActKind.WAIT, reason="Nothing to do.", confidence=1.0)
QUESTION = Proposal(kind=ActKind.ASK_USER, message="Which one?", reason="Two fit.", confidence=1.0)


async def test_no_more_proposals_are_looked_at_than_the_settings_allow(tmp_path: Path) -> None:
    home = settings_file(tmp_path / "home", rounds__max_proposals=2)
    async with a_house(home, brain=ScriptedBrain(WAIT, WAIT, WAIT)) as house:
        await begun(house, tmp_path / "sample")
        assert len(await house.house.records.find(ActRow)) == 2


@pytest.mark.parametrize(("wish", "seconds"), [(None, 200), (1, 100), (9999, 400)])
async def test_the_next_round_comes_when_the_settings_allow(tmp_path: Path, wish: int | None, seconds: int) -> None:
    pace: dict[str, JsonValue] = {"interval": 200, "min_interval": 100, "max_interval": 400}
    home = settings_file(tmp_path / "home", **{f"rounds__{name}_seconds": value for name, value in pace.items()})
    async with a_house(home, brain=ScriptedBrain(wish=wish)) as house:
        await begun(house, tmp_path / "sample")
        (timer,) = await house.house.records.find(TimerRow, kind="round")
        assert since_evening(timer.due_at) == timedelta(seconds=seconds)


@pytest.mark.parametrize("minutes", [20, 40])
async def test_a_night_in_which_nothing_happens_ends_as_soon_as_the_settings_say(tmp_path: Path, minutes: int) -> None:
    """Signs of life meanwhile are no life."""
    home = settings_file(tmp_path / "home", autonomous__idle_timeout_minutes=minutes)
    async with a_house(home, brain=ScriptedBrain()) as house:
        await begun(house, tmp_path / "sample")
        session = await house.to_the_brief()
        assert session.reason == "nothing happened for a while"
        assert since_evening(house.clock.now()) == timedelta(minutes=minutes)


async def test_an_alert_goes_out_at_the_share_the_settings_name_and_only_once(tmp_path: Path) -> None:
    home = settings_file(tmp_path / "home", limits__alert_percent=60, checkins__budget_percents=[20])
    async with a_house(home, brain=ScriptedBrain(WAIT)) as house:
        await begun(house, tmp_path / "sample", limits=Limits(rounds=10))
        await house.pass_time(minutes=36)
        told = [row.text for row in await house.house.records.find(NoticeRow) if row.tier < Tier.SUMMARY]
        assert ["60 %" in text for text in told] == [True]
        by_budget = [row.type for row in await house.house.records.find(CheckInRow) if "budget" in row.trigger]
        assert by_budget == ["progress", "alert"]


async def test_check_ins_come_as_often_as_the_settings_say(tmp_path: Path) -> None:
    home = settings_file(tmp_path / "home", checkins__every_decisions=2)
    async with a_house(home, brain=ScriptedBrain(WAIT)) as house:
        await begun(house, tmp_path / "sample")
        await house.pass_time(minutes=16)
        assert [row.trigger for row in await house.house.records.find(CheckInRow)] == ["decisions", "decisions"]


async def test_a_question_waits_and_presses_as_the_settings_say(tmp_path: Path) -> None:
    home = settings_file(tmp_path / "home", asks__question_minutes=90, asks__default_priority=3)
    async with a_house(home, brain=ScriptedBrain(QUESTION)) as house:
        await begun(house, tmp_path / "sample")
        (ask,) = await house.house.records.find(AskRow)
        assert (since_evening(ask.due_at), ask.priority) == (timedelta(minutes=90), 3)


async def test_a_plan_that_waits_and_finished_work_are_told_only_where_that_is_wanted(tmp_path: Path) -> None:
    unwanted = {
        "notices__on_plan_ready": False,
        "notices__on_complete": False,
        "notices__on_progress_milestones": False,
    }
    home = settings_file(tmp_path / "home", **unwanted)
    async with a_house(home) as house:
        await begun(house, tmp_path / "sample")
        await house.to_the_brief()
        subjects = {row.subject[:3] for row in await house.house.records.find(NoticeRow)}
        assert len(await house.house.records.find(AskRow)) == 1
        assert "job" not in subjects


@pytest.mark.parametrize("many", [1, 2])
async def test_as_many_failures_in_a_row_wake_the_person_as_the_settings_say(tmp_path: Path, many: int) -> None:
    """Tries until a person is asked: the rule's own number of three would hide what this setting does."""
    patient = {"jobs__max_retries": 5, "scores__low_value_min_acts": 50}  # else the run is stopped as a wasted one
    home = settings_file(tmp_path / "home", notices__errors_that_wake=many, **patient)
    async with a_house(home, agents={"housekeeper": ForgetfulAgent(MISSING)}) as house:
        await begun(house, tmp_path / "sample", level=Level.MODERATE)
        ask = await until_asked(house)
        told = await house.house.records.find(NoticeRow)
        failed = [row for row in told if " failed " in row.text and row.subject != ask.id]
        jobs = [job.id for job in await house.house.records.find(JobRow)]
        woke = [(row.subject, row.tier) for row in failed if row.subject in jobs]
        assert woke == [(job, Tier.URGENT) for job in jobs[many:4]]
        assert {row.tier for row in failed if row.subject not in jobs} == {Tier.ACTION}, "the others are in check-ins"


async def test_failures_are_told_only_where_that_is_wanted_and_the_ask_about_them_always(tmp_path: Path) -> None:
    home = settings_file(tmp_path / "home", notices__on_error=False)
    async with a_house(home, agents={"housekeeper": ForgetfulAgent(MISSING)}) as house:
        await begun(house, tmp_path / "sample", level=Level.MODERATE)
        ask = await until_asked(house)
        failed = [job for job in await house.house.records.find(JobRow) if job.state is JobState.FAILED]
        told = await house.house.records.find(NoticeRow)
        assert len(failed) == 3
        assert not [row.text for row in told if row.subject in {job.id for job in failed}]
        assert [row.tier for row in told if row.subject == ask.id] == [Tier.URGENT]


async def test_the_brief_is_as_short_as_the_settings_want_it(tmp_path: Path) -> None:
    home = settings_file(tmp_path / "home", review__brief_max_words=100)
    async with a_house(home) as house:
        await begun(house, tmp_path / "sample")
        await house.to_the_brief()
        (report,) = await house.house.records.find(ReportRow)
        assert 0 < report.brief.words <= 100
        assert report.brief.cut > 0


async def test_orders_keep_the_limits_they_name_and_take_the_others_from_the_settings(tmp_path: Path) -> None:
    home = settings_file(tmp_path / "home", limits__session_minutes=30, limits__session_rounds=7)
    async with a_house(home, brain=ScriptedBrain()) as house:
        session = await begun(house, tmp_path / "sample", limits=Limits(minutes=90))
        assert session.orders.limits == Limits(minutes=90, rounds=7)
        assert since_evening(session.ends_at) == timedelta(minutes=90)


async def test_a_day_holds_no_more_sessions_than_the_settings_say(tmp_path: Path) -> None:
    home = settings_file(tmp_path / "home", autonomous__max_daily_sessions=1, server__time_zone="UTC")
    async with a_house(home, brain=ScriptedBrain()) as house:
        session = await begun(house, tmp_path / "sample")
        await settlement.debrief(house.house.books, session.id, "enough", actor="ann")
        with pytest.raises(Refused, match="the daily maximum is 1"):
            await house.begin(orders("Tidy up"))
        await house.pass_time(hours=4)
        assert (await house.begin(orders("Tidy up"))).started_at


async def test_a_level_costs_what_the_settings_say(tmp_path: Path) -> None:
    home = settings_file(tmp_path / "home", gate__rounds_at_observe=2, gate__clean_nights_per_step=1)
    async with a_house(home, brain=ScriptedBrain()) as house:
        await begun(house, tmp_path / "sample", level=Level.OBSERVE)
        with pytest.raises(Refused):
            await set_level(house.house.books, Level.MODERATE, by="ann")
        await house.pass_time(minutes=6)
        with pytest.raises(Refused, match="night"):  # the rounds were seen, but the night is not over
            await set_level(house.house.books, Level.MODERATE, by="ann")
        await house.to_the_brief()
        assert await set_level(house.house.books, Level.MODERATE, by="ann") is Level.MODERATE
