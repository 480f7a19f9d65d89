"""The outbox's laws: the urgent is never held, the budget holds, nothing is lost, nothing is told twice (SPEC 9)."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.people.outbox import (
    RESEND_WAITS,
    AttentionUse,
    ChannelSlot,
    Hours,
    first_place,
    next_pause,
    sort_out,
)
from midwatch.terms.asks import Delivery, DeliveryState, Tier
from midwatch.terms.records import DeliveryRow

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 5, 1, 12, tzinfo=BERLIN)
MIDNIGHT = datetime(2026, 5, 1, 0, 30, tzinfo=BERLIN)
PUSHED = st.sampled_from((Tier.URGENT, Tier.ACTION, Tier.SUMMARY))
NEVER = Hours(quiet_from=time(0), quiet_until=time(0))


def row(notice: str, tier: int, place: ChannelSlot, *, attempts: int = 0) -> DeliveryRow:
    return DeliveryRow(
        id=f"{notice}.phone",
        notice=notice,
        channel="phone",
        session="",
        tier=tier,
        delivery=place.delivery,
        state=DeliveryState.WAITING,
        due_at=place.due_at,
        attempts=attempts,
        push="",
        error="",
        created_at=place.due_at,
        settled_at=None,
    )


@dataclass
class Sent:
    """One message that went out."""

    at: datetime
    tiers: tuple[int, ...]
    digest: bool
    counts: bool


@dataclass
class Phone:
    """A channel and its outbox, played through minute by minute; it fails at the tries it is told to."""

    hours: Hours
    budget: int
    fails: frozenset[int] = frozenset()
    waiting: dict[str, DeliveryRow] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    ends: list[tuple[str, str]] = field(default_factory=list)
    tries: int = 0
    raised: dict[str, datetime] = field(default_factory=dict)

    def attention(self, day: date) -> AttentionUse:
        counted = [one for one in self.sent if one.counts and one.at.astimezone(BERLIN).date() == day]
        return AttentionUse(sent_today=len(counted), budget=self.budget)

    def raise_(self, name: str, tier: Tier, now: datetime) -> None:
        local = now.astimezone(BERLIN)
        self.raised[name] = now
        self.waiting[name] = row(name, tier, first_place(tier, local, self.hours, self.attention(local.date())))

    def look(self, now: datetime) -> None:
        local = now.astimezone(BERLIN)
        found = sort_out(tuple(self.waiting.values()), local, self.hours, self.attention(local.date()))
        for one, place in found.moved:
            assert place.due_at > now
            self.waiting[one.notice] = row(one.notice, one.tier, place, attempts=one.attempts)
        if not found.go:
            return
        self.tries += 1
        if self.tries in self.fails:
            self._failed(now, found.go)
            return
        digest = any(one.delivery is Delivery.DIGEST for one in found.go)
        self.sent.append(Sent(now, tuple(one.tier for one in found.go), digest, found.counts))
        self._end("sent", found.go)

    def _failed(self, now: datetime, rows: tuple[DeliveryRow, ...]) -> None:
        for one in rows:
            pause = next_pause(one.attempts + 1)
            if pause is None:
                self._end("failed", (one,))
            else:
                again = ChannelSlot(one.delivery, now + pause)
                self.waiting[one.notice] = row(one.notice, one.tier, again, attempts=one.attempts + 1)

    def _end(self, how: str, rows: tuple[DeliveryRow, ...]) -> None:
        for one in rows:
            del self.waiting[one.notice]
            self.ends.append((one.notice, how))


@given(
    notices=st.lists(st.tuples(st.integers(0, 2 * 24 * 60), PUSHED), max_size=60),
    fails=st.frozensets(st.integers(1, 80), max_size=60),
    budget=st.integers(0, 6),
    changes=st.sampled_from((date(2026, 3, 28), date(2026, 5, 1), date(2026, 10, 24))),
    quiet=st.booleans(),
)
def test_whatever_comes_and_whatever_fails_the_laws_hold(
    notices: list[tuple[int, Tier]], fails: frozenset[int], budget: int, changes: date, quiet: bool
) -> None:
    begins = datetime.combine(changes, time(9), BERLIN).astimezone(UTC)
    phone = Phone(Hours() if quiet else NEVER, budget, fails)
    coming = sorted((begins + timedelta(minutes=minute), tier) for minute, tier in notices)
    now = begins
    for step in range(4 * 24 * 12):
        now = begins + timedelta(minutes=5 * step)
        while coming and coming[0][0] <= now:
            phone.raise_(f"ntc_{len(phone.raised)}", coming.pop(0)[1], now)
        phone.look(now)
    assert not phone.waiting, "what was raised came to an end within two days"
    assert sorted(phone.raised) == sorted(name for name, _ in phone.ends), "exactly one end for each"
    for one in phone.sent:
        ordinary = not one.digest and Tier.URGENT not in one.tiers
        assert not (quiet and ordinary and phone.hours.quiet(one.at.astimezone(BERLIN))), "nobody is woken for this"
    by_day: dict[date, int] = {}
    for one in phone.sent:
        day = one.at.astimezone(BERLIN).date()
        if not one.digest:
            by_day[day] = by_day.get(day, 0) + 1
            assert by_day[day] <= budget or Tier.URGENT in one.tiers, "the budget is exceeded by the urgent alone"


@given(moment=st.integers(0, 24 * 60), sent=st.integers(0, 40), budget=st.integers(0, 30))
def test_the_urgent_is_never_held(moment: int, sent: int, budget: int) -> None:
    local = (NOON.astimezone(UTC) + timedelta(minutes=moment)).astimezone(BERLIN)
    attention = AttentionUse(sent_today=sent, budget=budget)
    place = first_place(Tier.URGENT, local, Hours(), attention)
    assert place == ChannelSlot(Delivery.NOW, local.astimezone(UTC))
    assert len(sort_out([row("ntc_1", Tier.URGENT, place)], local, Hours(), attention).go) == 1


def test_a_person_may_want_to_sleep_through_the_urgent_too() -> None:
    hours = Hours(urgent_bypass=False)
    place = first_place(Tier.URGENT, MIDNIGHT, hours, AttentionUse())
    assert place == ChannelSlot(Delivery.AFTER_QUIET, MIDNIGHT.replace(hour=7, minute=0).astimezone(UTC))
    assert first_place(Tier.URGENT, NOON, hours, AttentionUse()).delivery is Delivery.NOW


@pytest.mark.parametrize(
    ("tier", "local", "delivery", "due"),
    [
        (Tier.ACTION, NOON, Delivery.NOW, NOON),
        (Tier.ACTION, MIDNIGHT, Delivery.AFTER_QUIET, MIDNIGHT.replace(hour=7, minute=0)),
        (Tier.SUMMARY, NOON, Delivery.BATCH, NOON.replace(hour=16)),
        (Tier.SUMMARY, NOON.replace(hour=19), Delivery.BATCH, NOON.replace(day=2, hour=7)),
        (Tier.SUMMARY, MIDNIGHT, Delivery.BATCH, MIDNIGHT.replace(hour=7, minute=0)),
        (Tier.LOG, NOON, Delivery.LOG, NOON),
    ],
)
def test_when_a_new_notice_goes_out(tier: Tier, local: datetime, delivery: Delivery, due: datetime) -> None:
    assert first_place(tier, local, Hours(), AttentionUse()) == ChannelSlot(delivery, due.astimezone(UTC))


def test_what_the_budget_keeps_back_comes_with_the_digest() -> None:
    used = AttentionUse(sent_today=20)
    for tier in (Tier.ACTION, Tier.SUMMARY):
        place = first_place(tier, NOON, Hours(), used)
        assert place == ChannelSlot(Delivery.DIGEST, NOON.replace(day=2, hour=7).astimezone(UTC))


def test_the_brief_is_outside_tiers_and_budget() -> None:
    used = AttentionUse(sent_today=99)
    assert first_place(Tier.ACTION, NOON, Hours(), used, brief=True) == ChannelSlot(
        Delivery.DIGEST, NOON.astimezone(UTC)
    )
    held = first_place(Tier.ACTION, MIDNIGHT, Hours(), used, brief=True)
    assert held == ChannelSlot(Delivery.DIGEST, MIDNIGHT.replace(hour=7, minute=0).astimezone(UTC))
    assert not sort_out([row("ntc_1", Tier.ACTION, held)], MIDNIGHT.replace(hour=8), Hours(), used).counts


def test_a_second_try_that_falls_into_quiet_hours_waits_for_their_end() -> None:
    late = NOON.replace(hour=22, minute=5)
    again = row("ntc_1", Tier.ACTION, ChannelSlot(Delivery.NOW, late.astimezone(UTC)), attempts=1)
    found = sort_out([again], late, Hours(), AttentionUse())
    held = ChannelSlot(Delivery.AFTER_QUIET, NOON.replace(day=2, hour=7).astimezone(UTC))
    assert (found.go, found.moved) == ((), ((again, held),))
    assert sort_out([again], late, NEVER, AttentionUse()).go == (again,)


def test_what_is_due_when_the_budget_is_used_meanwhile_waits_for_the_digest_unless_something_urgent_goes() -> None:
    batched = row("ntc_1", Tier.SUMMARY, ChannelSlot(Delivery.BATCH, NOON.astimezone(UTC)))
    urgent = row("ntc_2", Tier.URGENT, ChannelSlot(Delivery.NOW, NOON.astimezone(UTC)))
    used = AttentionUse(sent_today=20)
    found = sort_out([batched], NOON, Hours(), used)
    held = ChannelSlot(Delivery.DIGEST, NOON.replace(day=2, hour=7).astimezone(UTC))
    assert (found.go, found.moved) == ((), ((batched, held),))
    assert sort_out([batched, urgent], NOON, Hours(), used).go == (urgent, batched)


def test_a_batch_goes_along_with_something_louder_and_not_by_itself() -> None:
    batched = row("ntc_1", Tier.SUMMARY, first_place(Tier.SUMMARY, NOON, Hours(), AttentionUse()))
    loud = row("ntc_2", Tier.ACTION, first_place(Tier.ACTION, NOON, Hours(), AttentionUse()))
    assert sort_out([batched], NOON, Hours(), AttentionUse()).go == ()
    assert sort_out([batched, loud], NOON, Hours(), AttentionUse()).go == (loud, batched)


@pytest.mark.parametrize(("before", "hours"), [(date(2026, 3, 28), 8), (date(2026, 10, 24), 10)])
def test_quiet_hours_end_at_seven_by_the_wall_also_when_the_clocks_change(before: date, hours: int) -> None:
    evening = datetime.combine(before, time(22), BERLIN)
    place = first_place(Tier.ACTION, evening, Hours(), AttentionUse())
    assert place.due_at.astimezone(BERLIN).hour == 7
    assert place.due_at - evening.astimezone(UTC) == timedelta(hours=hours)


def test_a_channel_that_fails_is_tried_six_times_ever_more_slowly() -> None:
    assert [next_pause(tries) for tries in range(1, 7)] == [*RESEND_WAITS, None]
    assert [pause / timedelta(minutes=1) for pause in RESEND_WAITS] == [1, 4, 16, 64, 256]


@given(st.integers(0, 30), st.integers(1, 30))
def test_the_warning_is_said_by_one_message_a_day(sent: int, budget: int) -> None:
    warned = [used for used in range(budget) if AttentionUse(sent_today=used, budget=budget).warns]
    assert len(warned) == 1
    assert AttentionUse(sent_today=15).warns, "at four fifths"
    assert AttentionUse(sent_today=sent, budget=budget).empty == (sent >= budget)
