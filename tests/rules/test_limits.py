"""Limits: marks, check-ins, the end of a session, the next round, retries."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.budget.limits import (
    CheckIn,
    Pace,
    SessionEnd,
    Signs,
    SinceCheckIn,
    alarming,
    check_ins_due,
    marks_crossed,
    next_round_after,
    session_ends,
)
from midwatch.terms.facts import Budget, Budgets

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
MARKS = (50, 80, 100)
SIGNS = Signs(every=25 * MINUTE, keep_alive=15 * MINUTE, decisions=10)
PACE = Pace(usual=5 * MINUTE, soonest=MINUTE, latest=30 * MINUTE)


@given(st.integers(1, 200), st.lists(st.integers(0, 40), max_size=20))
def test_each_mark_is_crossed_once_however_the_spending_is_cut(limit: int, steps: list[int]) -> None:
    spent = 0
    marks: list[int] = []
    for step in steps:
        before, after = Budget(spent=spent, limit=limit), Budget(spent=spent + step, limit=limit)
        marks += marks_crossed(before, after, marks=MARKS)
        spent += step
    assert marks == list(marks_crossed(Budget(limit=limit), Budget(spent=spent, limit=limit), marks=MARKS))
    assert marks == [mark for mark in MARKS if spent >= mark * limit / 100]


def test_without_a_limit_there_is_nothing_to_cross() -> None:
    assert marks_crossed(Budget(), Budget(spent=10**9), marks=MARKS) == ()


@pytest.mark.parametrize(
    ("since", "due"),
    [
        (SinceCheckIn(24 * MINUTE, 14 * MINUTE), ()),
        (SinceCheckIn(25 * MINUTE, 0 * MINUTE), (CheckIn.TIME,)),
        (SinceCheckIn(0 * MINUTE, 15 * MINUTE), (CheckIn.KEEP_ALIVE,)),
        (SinceCheckIn(25 * MINUTE, 15 * MINUTE), (CheckIn.TIME,)),
        (SinceCheckIn(0 * MINUTE, 0 * MINUTE, decisions=9), ()),
        (SinceCheckIn(0 * MINUTE, 0 * MINUTE, decisions=10), (CheckIn.DECISIONS,)),
        (SinceCheckIn(0 * MINUTE, 0 * MINUTE, event=True), (CheckIn.EVENT,)),
        (SinceCheckIn(0 * MINUTE, 0 * MINUTE, marks=(80,)), (CheckIn.BUDGET,)),
        (SinceCheckIn(30 * MINUTE, 0 * MINUTE, 10, event=True), (CheckIn.EVENT, CheckIn.DECISIONS, CheckIn.TIME)),
    ],
)
def test_a_check_in_is_due_for_exactly_these_causes(since: SinceCheckIn, due: tuple[CheckIn, ...]) -> None:
    assert check_ins_due(since, SIGNS) == due


FULL = Budget(spent=10, limit=10)


@pytest.mark.parametrize(
    ("budgets", "why"),
    [
        (Budgets(seconds=FULL), SessionEnd.TIME),
        (Budgets(usd_micros=FULL), SessionEnd.USD),
        (Budgets(tokens=FULL), SessionEnd.TOKENS),
        (Budgets(rounds=FULL), SessionEnd.ROUNDS),
        (Budgets(attention=FULL), None),
        (Budgets(usd_micros=Budget(spent=9, reserved=1, limit=10)), None),
        (Budgets(), None),
    ],
)
def test_a_session_ends_with_what_is_spent(budgets: Budgets, why: SessionEnd | None) -> None:
    assert session_ends(budgets) is why


def test_a_session_ends_after_half_an_hour_of_nothing() -> None:
    assert session_ends(Budgets(), idle_for=30 * MINUTE, idle_after=30 * MINUTE) is SessionEnd.IDLE
    assert session_ends(Budgets(), idle_for=30 * MINUTE - SECOND, idle_after=30 * MINUTE) is None


@given(st.none() | st.timedeltas(timedelta(days=-5), timedelta(days=5)))
def test_the_next_round_comes_between_a_minute_and_half_an_hour(wish: timedelta | None) -> None:
    after = next_round_after(wish, PACE)
    assert MINUTE <= after <= 30 * MINUTE
    assert after == 5 * MINUTE if wish is None else after == wish or wish < MINUTE or wish > 30 * MINUTE


@pytest.mark.parametrize(
    ("since", "due"),
    [
        (SinceCheckIn(2 * MINUTE, 0 * MINUTE), (CheckIn.TIME,)),
        (SinceCheckIn(0 * MINUTE, 1 * MINUTE), (CheckIn.KEEP_ALIVE,)),
        (SinceCheckIn(0 * MINUTE, 0 * MINUTE, decisions=3), (CheckIn.DECISIONS,)),
        (SinceCheckIn(1 * MINUTE, 0 * MINUTE, decisions=2), ()),
    ],
)
def test_check_ins_keep_to_other_signs_where_they_are_given(since: SinceCheckIn, due: tuple[CheckIn, ...]) -> None:
    assert check_ins_due(since, Signs(every=2 * MINUTE, keep_alive=MINUTE, decisions=3)) == due


def test_marks_an_alert_and_patience_can_be_set_otherwise() -> None:
    assert marks_crossed(Budget(limit=10), Budget(spent=9, limit=10), marks={90, 30}) == (30, 90)
    assert alarming((50, 80), alert_from=80)
    assert not alarming((50,), alert_from=80)
    assert alarming((50,), alert_from=50)
    assert session_ends(Budgets(), idle_for=5 * MINUTE, idle_after=5 * MINUTE) is SessionEnd.IDLE


@given(st.none() | st.timedeltas(timedelta(days=-5), timedelta(days=5)))
def test_the_next_round_keeps_any_pace(wish: timedelta | None) -> None:
    after = next_round_after(wish, Pace(usual=3 * MINUTE, soonest=2 * MINUTE, latest=4 * MINUTE))
    assert 2 * MINUTE <= after <= 4 * MINUTE
    assert wish is not None or after == 3 * MINUTE
