"""Notices: who is woken, who is told, what waits."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.people.notices import NoticeKind, batch_text, brain_tier, is_quiet, quiet_ends_at, route, tier_of
from midwatch.terms.asks import Delivery, Tier

BERLIN = ZoneInfo("Europe/Berlin")
RULES_4 = {
    1: "security lost_isolation low_resources critical_guidance spin_pause",
    2: "error needs_input plan_ready pull_request_ready act_told time_out "
    "check_in_guidance check_in_alert check_in_completion",
    3: "routine proposal milestone check_in_progress",
    4: "reasoning skip scan",
}


def test_every_kind_of_notice_has_the_tier_the_rules_give_it() -> None:
    written = {name: tier for tier, names in RULES_4.items() for name in names.split()}
    assert {kind.value: int(tier_of(kind)) for kind in NoticeKind} == written


@given(st.integers(0, 6))
def test_more_than_two_errors_in_a_row_wake_the_person(errors: int) -> None:
    assert tier_of(NoticeKind.ERROR, errors_in_a_row=errors) == (1 if errors > 2 else 2)


@given(st.sampled_from(NoticeKind), st.integers(0, 9), st.integers(1, 9))
def test_how_many_errors_wake_is_the_persons_choice_and_concerns_errors_only(
    kind: NoticeKind, errors: int, wakes: int
) -> None:
    tier = tier_of(kind, errors_in_a_row=errors, errors_that_wake=wakes)
    assert tier == (1 if kind is NoticeKind.ERROR and errors > wakes else tier_of(kind))


@given(st.sampled_from(Tier))
def test_a_brain_may_lower_its_voice_but_not_wake_anyone(tier: Tier) -> None:
    assert brain_tier(tier) == max(2, tier)


hours = st.datetimes(min_value=datetime(2026, 1, 1), max_value=datetime(2027, 1, 1))  # noqa: DTZ001


@given(hours)
def test_quiet_hours_run_over_midnight_by_the_persons_clock(naive: datetime) -> None:
    assert is_quiet(naive.replace(tzinfo=BERLIN)) == (naive.hour >= 22 or naive.hour < 7)


@given(hours)
def test_what_was_held_back_goes_out_when_quiet_hours_end(naive: datetime) -> None:
    local = naive.replace(tzinfo=BERLIN)
    end = quiet_ends_at(local)
    assert (end.hour, end.minute) == (7, 0)
    assert not is_quiet(end)
    assert timedelta(0) < end.astimezone(UTC) - local.astimezone(UTC) <= timedelta(hours=25)


def test_quiet_hours_within_a_day_are_quiet_only_then() -> None:
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    one, two = noon.replace(hour=13).time(), noon.replace(hour=14).time()
    assert [is_quiet(noon + timedelta(hours=h), start=one, end=two) for h in range(4)] == [False, True, False, False]


@given(st.sampled_from(Tier), st.booleans(), st.integers(0, 40), st.integers(0, 30))
def test_urgent_always_goes_and_nothing_else_breaks_quiet_or_budget(
    tier: Tier, quiet: bool, sent: int, budget: int
) -> None:
    delivery = route(tier, quiet=quiet, sent_today=sent, budget=budget)
    assert (delivery is Delivery.NOW) == (tier == 1 or (tier == 2 and not quiet and sent < budget))
    assert (delivery is Delivery.LOG) == (tier == 4)
    assert (delivery is Delivery.DIGEST) == (tier in {2, 3} and sent >= budget)


@given(st.lists(st.text(alphabet="abc ", min_size=1), min_size=1, max_size=9))
def test_a_batch_says_how_many_and_holds_them_all(items: list[str]) -> None:
    first, *rest = batch_text(items).split("\n")
    assert str(len(items)) in first
    assert rest == [f"- {item}" for item in items]
