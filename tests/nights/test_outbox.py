"""Notices on their way out of the house: tiers, quiet hours, budget, a channel that fails, a house that is killed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from midwatch.errors import Unavailable
from midwatch.journal.events.notices import NoticeRouted
from midwatch.journal.events.session import AskOpened, NoticeRaised, NoticeSent, SessionOpened
from midwatch.night.notify import outbox
from midwatch.ports.channel import Destination
from midwatch.terms.asks import AskDraft, AskKind, AskState, Delivery, DeliveryState, PushState, Silence, Tier
from midwatch.terms.records import AskRow, DeliveryRow, NoticeRow, PushRow, ReportRow
from midwatch.terms.trust import Level
from tests.nights.house import TestHouse, orders, sample_repository
from tests.nights.scripted import a_scripted_house
from tests.nights.test_first_night import all_is_well

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 5, 1, 12, tzinfo=BERLIN)
EVENING = datetime(2026, 3, 28, 21, tzinfo=BERLIN)
"""The clocks are put forward in the night that follows."""


class Gone(BaseException):
    """The process is no more."""


@dataclass
class Postbox:
    """A service that takes messages, refuses them while it is down, and remembers when it took what."""

    house: TestHouse | None = None
    down: str = ""
    dies_after: bool = False
    taken: list[tuple[str, str, str, str]] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)

    async def push(self, channel: str, title: str, text: str) -> None:
        at = f"{self.now():%H:%M}"
        self.tried.append(at)
        if self.down:
            raise Unavailable(self.down)
        self.taken.append((at, channel, title, text))
        if self.dies_after:
            self.dies_after = False
            raise Gone

    async def look(self, channel: str) -> Destination:
        return Destination("Postbox", channel)

    def now(self) -> datetime:
        assert self.house is not None
        return self.house.clock.now().astimezone(BERLIN)

    @property
    def heard(self) -> list[tuple[str, str]]:
        """When it took which text."""
        return [(at, text) for at, _, _, text in self.taken]


def settings(home: Path, text: str = "") -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "midwatch.toml").write_text(
        f'[server]\ntime_zone = "Europe/Berlin"\n[channels.phone]\nurl = "env:NOBODY_ASKS_FOR_IT"\n{text}'
    )


@asynccontextmanager
async def told_house(
    tmp_path: Path, *, begins: datetime = NOON, url: str = "", more: str = "", postbox: Postbox | None = None
) -> AsyncIterator[tuple[TestHouse, Postbox]]:
    box = postbox or Postbox()
    settings(tmp_path / "home", more)
    async with a_scripted_house(tmp_path / "home", url, begins=begins.astimezone(UTC), outlet=box) as house:
        box.house = house
        yield house, box


async def raised(house: TestHouse, text: str, tier: Tier = Tier.ACTION, subject: str = "") -> str:
    name = house.house.ids.new("ntc")
    await house.house.journal.record(NoticeRaised(notice=name, session="", tier=tier, text=text, subject=subject))
    await house.settle()
    return name


async def states(house: TestHouse) -> list[str]:
    return [row.state.value for row in await house.house.records.find(DeliveryRow)]


async def test_each_tier_goes_its_way_by_day(tmp_path: Path, database_url: str) -> None:
    async with told_house(tmp_path, url=database_url) as (house, box):
        await raised(house, "small", Tier.SUMMARY)
        await raised(house, "mutter", Tier.LOG)
        assert box.taken == []
        await raised(house, "needed")
        assert box.heard == [("12:00", "needed\n\nBatch update (1 item):\n- small")]
        await raised(house, "later", Tier.SUMMARY)
        await house.pass_time(hours=3)
        await raised(house, "later still", Tier.SUMMARY)
        await house.pass_time(hours=2)
        assert box.heard[1:] == [("16:00", "Batch update (2 items):\n- later\n- later still")]
        assert await states(house) == ["sent"] * 4
        log = (house.house.home / "notices.log").read_text()
        assert all(word in log for word in ("small", "needed", "later still"))
        assert {row.sent_by for row in await house.house.records.find(NoticeRow) if row.tier < Tier.LOG} == {"log"}
        await all_is_well(house)


async def test_an_agents_words_reach_a_messenger_without_links_and_call_nobody(tmp_path: Path) -> None:
    async with told_house(tmp_path) as (house, box):
        await raised(house, "see [it](https://evil.example/?key)", Tier.SUMMARY)
        await raised(house, "Job 1 asks: @everyone <!channel> https://evil.example/?key evil.example")
        ((_, text),) = box.heard
        assert not any(mark in text for mark in ("://", "evil.example", "@everyone", "<", "]("))
        assert "https://evil.example/?key" in (house.house.home / "notices.log").read_text(), "here it is only read"


async def test_a_whole_night_with_quiet_hours_while_the_clocks_change(tmp_path: Path) -> None:
    async with told_house(tmp_path, begins=EVENING) as (house, box):
        await raised(house, "evening")
        await house.pass_time(hours=2)
        await raised(house, "question at night")
        await raised(house, "routine at night", Tier.SUMMARY)
        await house.pass_time(hours=1)
        await raised(house, "fire", Tier.URGENT)
        await raised(house, "another question")
        held = [row for row in await house.house.records.find(DeliveryRow) if row.state is DeliveryState.WAITING]
        assert {row.due_at.astimezone(BERLIN).strftime("%d. %H:%M") for row in held} == {"29. 07:00"}
        await house.pass_time(hours=8)
        assert [at for at, _ in box.heard] == ["21:00", "00:00", "07:00"]
        assert box.taken[1][2] == "Midwatch: urgent"
        assert box.heard[1][1] == "fire\n\nBatch update (1 item):\n- routine at night"
        assert box.heard[2][1] == "question at night\n\nanother question"
        assert house.clock.now().astimezone(BERLIN).hour == 9, "eleven hours later by the wall is twelve"
        await all_is_well(house)


async def test_the_budget_holds_warns_and_leaves_the_rest_to_the_digest(tmp_path: Path) -> None:
    async with told_house(tmp_path, more="[notices]\ndaily_budget = 5\n") as (house, box):
        for number in range(1, 8):
            await raised(house, f"question {number}")
            await house.pass_time(minutes=1)
        assert [text.splitlines()[0] for _, text in box.heard] == [f"question {number}" for number in range(1, 6)]
        assert [text.count("notice 4 of 5") for _, text in box.heard] == [0, 0, 0, 1, 0]
        await raised(house, "fire", Tier.URGENT)
        assert box.heard[-1][1] == "fire"
        await house.pass_time(hours=20)
        assert box.heard[-1] == ("07:00", "Batch update (2 items):\n- question 6\n- question 7")
        counted = [row.counts for row in await house.house.records.find(PushRow)]
        assert counted == [True] * 6 + [False]
        await all_is_well(house)


async def test_a_brief_made_at_night_is_pushed_at_seven_in_its_short_form(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with told_house(tmp_path, begins=EVENING + timedelta(minutes=90)) as (house, box):
        await house.project(source)
        await house.begin(orders("Tidy up", level=Level.FULL))
        await house.to_the_brief()
        await house.pass_time(hours=9)
        (report,) = await house.house.records.find(ReportRow)
        ((at, text),) = [one for one in box.heard if report.brief.headline in one[1]]
        assert at == "07:00"
        assert len(text.partition("Read it all: midwatch morning")[0]) < 1000
        (ready,) = [text for _, text in box.heard if "PR ready: " in text]
        assert "checks green · No model requests · under a minute" in ready
        assert not any(row.counts for row in await house.house.records.find(PushRow))
        await all_is_well(house)


async def test_a_channel_that_is_down_is_tried_ever_more_slowly_and_then_given_up(tmp_path: Path) -> None:
    async with told_house(tmp_path) as (house, box):
        box.down = "JSON refused it: 500."
        name = await raised(house, "needed")
        await house.pass_time(hours=7)
        assert box.tried == ["12:00", "12:01", "12:05", "12:21", "13:25", "17:41"]
        (row,) = await house.house.records.find(DeliveryRow, notice=name)
        assert (row.state, row.attempts, row.error) == (DeliveryState.FAILED, 6, "JSON refused it: 500.")
        assert (await house.house.records.get(NoticeRow, name)).sent_by == "log"
        assert {row.state for row in await house.house.records.find(PushRow)} == {PushState.FAILED}
        await all_is_well(house)


async def test_what_waits_for_a_channel_goes_along_when_it_is_up_again(tmp_path: Path) -> None:
    async with told_house(tmp_path) as (house, box):
        box.down = "refused"
        await raised(house, "first")
        await house.pass_time(minutes=30)
        box.down = ""
        await raised(house, "second")
        assert [text for _, text in box.heard] == ["first\n\nsecond"]
        assert await states(house) == ["sent", "sent"]
        assert await house.house.records.find(PushRow, state=PushState.SENDING) == ()
        await house.pass_time(hours=3)
        assert len(box.taken) == 1
        await all_is_well(house)


async def test_a_house_killed_between_sending_and_writing_it_down_sends_once_more_at_most(tmp_path: Path) -> None:
    box = Postbox(dies_after=True)
    async with told_house(tmp_path, postbox=box) as (house, _):
        with pytest.raises(Gone):
            await raised(house, "needed")
    async with told_house(tmp_path, postbox=box, begins=NOON + timedelta(minutes=2)) as (house, _):
        await house.pass_time(minutes=30)
        assert [text for _, text in box.heard] == ["needed", "needed"]
        assert await states(house) == ["sent"]
        pushes = await house.house.records.find(PushRow)
        assert [row.state for row in pushes] == [PushState.UNKNOWN, PushState.SENT]
        await all_is_well(house)


async def test_a_house_that_was_off_for_longer_than_a_message_may_take_sends_it_once_and_never_empty(
    tmp_path: Path,
) -> None:
    async with told_house(tmp_path) as (house, box):
        name = house.house.ids.new("ntc")
        await house.house.journal.record(NoticeRaised(notice=name, session="", tier=Tier.ACTION, text="needed"))
        await house.engine.run_ready()
        await outbox.dispatch(house.house.books, "phone")
        (first,) = await house.house.records.find(PushRow)
        house.clock.jump_to((NOON + timedelta(minutes=6)).astimezone(UTC))
        await outbox.hand_over(house.house.books, house.house.night.outside.outlet, first.id)
        assert box.taken == [], "whoever looks at the channel sends it"
        await outbox.dispatch(house.house.books, "phone")
        await outbox.hand_over(house.house.books, house.house.night.outside.outlet, first.id)
        await house.settle()
        assert box.heard == [("12:06", "needed")]
        assert [row.state for row in await house.house.records.find(PushRow)] == [PushState.UNKNOWN, PushState.SENT]
        await all_is_well(house)


async def test_a_message_that_holds_nothing_any_more_is_not_sent(tmp_path: Path) -> None:
    async with told_house(tmp_path) as (house, box):
        name = house.house.ids.new("ntc")
        await house.house.journal.record(NoticeRaised(notice=name, session="", tier=Tier.ACTION, text="needed"))
        await house.engine.run_ready()
        await outbox.dispatch(house.house.books, "phone")
        (first,) = await house.house.records.find(PushRow)
        later = house.clock.now() + timedelta(hours=1)
        await house.house.journal.record(
            NoticeRouted(notice=name, channel="phone", delivery=Delivery.DIGEST, due_at=later)
        )
        await outbox.hand_over(house.house.books, house.house.night.outside.outlet, first.id)
        assert box.taken == []
        assert (await house.house.records.get(PushRow, first.id)).state is PushState.UNKNOWN


async def test_a_message_is_begun_by_one_worker_only(tmp_path: Path, database_url: str) -> None:
    async with told_house(tmp_path, url=database_url) as (house, box):
        name = house.house.ids.new("ntc")
        await house.house.journal.record(NoticeRaised(notice=name, session="", tier=Tier.ACTION, text="x"))
        await house.engine.run_ready()  # told and routed; nobody has looked at the channel yet
        await outbox.dispatch(house.house.books, "phone")
        await outbox.dispatch(house.house.books, "phone")
        await house.settle()
        assert len(box.taken) == len(await house.house.records.find(PushRow)) == 1
        (push,) = await house.house.records.find(PushRow)
        await outbox.hand_over(house.house.books, house.house.night.outside.outlet, push.id)
        await outbox.tell(house.house.books, house.house.night.outside.channel, name)
        assert len(box.taken) == 1
        await all_is_well(house)


async def test_a_channel_takes_the_tiers_it_is_there_for_and_may_go_without_quiet_hours(tmp_path: Path) -> None:
    more = (
        '[channels.mail]\nurl = "env:X"\nquiet = false\ntiers = ["urgent", "action"]\n[channels.off]\nurl = "env:Y"\n'
    )
    async with told_house(tmp_path, begins=EVENING + timedelta(hours=2), more=f"{more}tiers = []\n") as (house, box):
        await raised(house, "routine", Tier.SUMMARY)
        await raised(house, "question")
        assert [(channel, text) for _, channel, _, text in box.taken] == [("mail", "question")]
        assert {row.channel for row in await house.house.records.find(DeliveryRow)} == {"mail", "phone"}
        await all_is_well(house)


async def test_what_waits_for_a_channel_that_is_taken_away_stays_in_the_log(tmp_path: Path) -> None:
    async with told_house(tmp_path) as (house, box):
        await raised(house, "routine", Tier.SUMMARY)
        (tmp_path / "home" / "midwatch.toml").write_text("")
        await house.house.reload_settings()
        await house.pass_time(hours=5)
        assert await states(house) == ["logged"]
        assert box.tried == []
        await all_is_well(house)


def ask_and_notice(house: TestHouse) -> tuple[SessionOpened, AskOpened, NoticeRaised]:
    draft = AskDraft(kind=AskKind.GUIDANCE_UNCERTAIN, question="Which?", silence=Silence.PARKED)
    night = SessionOpened(session="ses_1", orders=orders())
    opened = AskOpened(ask="ask_1", session="ses_1", draft=draft, due_at=house.clock.now() + timedelta(minutes=20))
    told = NoticeRaised(notice="ntc_1", session="ses_1", tier=Tier.ACTION, text="Which?", subject="ask_1")
    return night, opened, told


async def test_silence_counts_from_the_moment_somebody_was_told(tmp_path: Path) -> None:
    """SPEC 9: a house that was off when the ask was opened owes the person the whole time."""
    async with told_house(tmp_path) as (house, _):
        await house.house.journal.record(*ask_and_notice(house))
        house.clock.jump_to((NOON + timedelta(hours=1)).astimezone(UTC))
        await house.house.timers.serve_due()
        (ask,) = await house.house.records.find(AskRow)
        assert ask.state is AskState.OPEN, "nobody was told, so nobody was silent"
        await house.settle()
        (ask,) = await house.house.records.find(AskRow)
        assert ask.due_at is not None
        assert f"{ask.due_at.astimezone(BERLIN):%H:%M}" == "13:20"
        await house.pass_time(minutes=21)
        (ask,) = await house.house.records.find(AskRow)
        assert ask.state is AskState.EXPIRED


async def test_a_clock_that_started_in_time_is_not_moved_by_a_channel_that_is_down(tmp_path: Path) -> None:
    async with told_house(tmp_path) as (house, box):
        box.down = "refused"
        await house.house.journal.record(*ask_and_notice(house))
        await house.pass_time(minutes=19)
        (ask,) = await house.house.records.find(AskRow)
        assert (ask.state, len(box.tried)) == (AskState.OPEN, 3)
        await house.pass_time(minutes=2)
        assert (await house.house.records.find(AskRow))[0].state is AskState.EXPIRED
        assert await house.house.journal.entries(kinds=("ask.postponed",)) == ()


async def test_without_a_channel_the_log_is_all_there_is(tmp_path: Path) -> None:
    async with a_scripted_house(tmp_path / "home", outlet=Postbox()) as house:
        await raised(house, "needed", Tier.URGENT)
        assert await house.house.records.find(DeliveryRow) == ()
        (entry,) = await house.house.journal.entries(kinds=("notice.sent",))
        assert isinstance(entry.event, NoticeSent)
        assert (entry.event.channel, entry.event.push) == ("log", "")
