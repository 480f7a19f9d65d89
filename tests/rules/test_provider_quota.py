"""Leave me 40 % at 08:00: when a provider may still be asked (X11)."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.budget.provider_quota import BELIEVED, YES, Leave, Reading, leave_wanted, may_burn
from midwatch.terms.orders import Limits

NOW = datetime(2026, 11, 15, 3, tzinfo=UTC)
EIGHT = NOW.replace(hour=8)
HOUR = timedelta(hours=1)

moments = st.timedeltas(timedelta(hours=-12), timedelta(hours=12)).map(lambda span: NOW + span)
shares = st.integers(0, 100).map(lambda percent: percent / 100)
readings = st.lists(
    st.builds(
        Reading,
        provider=st.sampled_from(["anthropic", "openai"]),
        limit=st.sampled_from(["5h", "7d", "requests"]),
        remaining=st.none() | shares,
        resets_at=st.none() | moments,
        read_at=moments,
    ),
    max_size=5,
)
wishes = st.builds(Leave, share=shares, at=st.none() | moments)


def reading(remaining: float | None, resets: datetime | None = None, limit: str = "5h") -> Reading:
    return Reading("anthropic", limit, remaining, resets, NOW)


@pytest.mark.parametrize(
    ("told", "allowed"),
    [
        (reading(0.41, NOW + 9 * HOUR), True),
        (reading(0.40, NOW + 9 * HOUR), False),
        (reading(0.10, NOW + 9 * HOUR), False),
        (reading(1.0 - 0.6, NOW + 9 * HOUR), False),
        (reading(0.10, NOW + 4 * HOUR), True),
        (reading(0.10, EIGHT), True),
        (reading(0.10, EIGHT + timedelta(seconds=1)), False),
        (reading(0.10, NOW - HOUR), True),
        (reading(None, NOW + 9 * HOUR), True),
        (reading(0.10), False),
    ],
)
def test_at_the_line_nothing_starts_unless_the_limit_is_whole_again_in_time(told: Reading, allowed: bool) -> None:
    assert may_burn([told], "anthropic", Leave(0.4, EIGHT), NOW).allowed is allowed


def test_the_sentence_says_what_is_left_and_what_is_kept() -> None:
    told = [reading(0.38, NOW + 9 * HOUR), reading(0.2, NOW + 99 * HOUR, "7d"), reading(0.0, NOW + HOUR, "requests")]
    said = may_burn(told, "anthropic", Leave(0.4, EIGHT), NOW)
    assert said.why == "Anthropic has 20 % of its 7d limit left, and the orders keep 40 % for 08:00."
    assert (said.limit, said.until) == ("7d", EIGHT)
    all_night = may_burn(told[:1], "anthropic", Leave(0.4), NOW)
    assert all_night.why == "Anthropic has 38 % of its 5h limit left, and the orders keep 40 %."
    assert all_night.until == NOW + 9 * HOUR


def test_a_reading_nobody_can_renew_is_not_believed_for_ever() -> None:
    leave = Leave(0.4, EIGHT)
    assert not may_burn([reading(0.1)], "anthropic", leave, NOW + BELIEVED - timedelta(seconds=1)).allowed
    assert may_burn([reading(0.1)], "anthropic", leave, NOW + BELIEVED).allowed


@given(readings, moments)
def test_without_a_wish_and_after_its_hour_everything_may_start(told: list[Reading], now: datetime) -> None:
    assert may_burn(told, "anthropic", None, now) == YES
    assert may_burn(told, "anthropic", Leave(1.0, now), now) == YES


@given(readings, wishes, moments)
def test_a_no_has_a_reading_of_this_provider_at_the_line_and_ends(
    told: list[Reading], leave: Leave, now: datetime
) -> None:
    said = may_burn(told, "anthropic", leave, now)
    own = [one for one in told if one.provider == "anthropic"]
    assert may_burn(own, "anthropic", leave, now) == said, "what others have left does not matter"
    assert may_burn(list(reversed(told)), "anthropic", leave, now) == said
    if said.allowed:
        assert said == YES
        return
    low = [one for one in own if one.limit == said.limit and one.remaining is not None]
    assert any((one.remaining or 0) <= leave.share for one in low)
    assert said.until is not None
    assert said.until > now
    assert may_burn(told, "anthropic", leave, said.until).allowed, "and it does not only move on"


@given(readings, wishes, moments, shares)
def test_who_wants_more_left_is_never_allowed_more(
    told: list[Reading], leave: Leave, now: datetime, other: float
) -> None:
    less, more = (Leave(share, leave.at) for share in sorted((leave.share, other)))
    assert may_burn(told, "anthropic", less, now).allowed >= may_burn(told, "anthropic", more, now).allowed


@given(readings, readings, wishes, moments)
def test_another_reading_never_allows_more(
    told: list[Reading], more: list[Reading], leave: Leave, now: datetime
) -> None:
    assert may_burn(told, "anthropic", leave, now).allowed >= may_burn(told + more, "anthropic", leave, now).allowed


@pytest.mark.parametrize(
    ("limits", "wish"),
    [
        (Limits(), None),
        (Limits(leave_percent=0, leave_at=time(8)), None),
        (Limits(leave_percent=40), Leave(0.4)),
        (Limits(leave_percent=40, leave_at=time(8)), Leave(0.4, datetime(2026, 3, 29, 6, tzinfo=UTC))),
        (Limits(leave_percent=40, leave_at=time(23, 30)), Leave(0.4, datetime(2026, 3, 28, 22, 30, tzinfo=UTC))),
        (Limits(leave_percent=100, leave_at=time(22)), Leave(1.0, datetime(2026, 3, 29, 20, tzinfo=UTC))),
    ],
)
def test_the_hour_is_the_first_after_the_night_began_on_the_persons_clock(limits: Limits, wish: Leave | None) -> None:
    """The clocks of Berlin go forward in that night."""
    since = datetime(2026, 3, 28, 22, tzinfo=ZoneInfo("Europe/Berlin"))
    assert leave_wanted(limits, since) == wish
