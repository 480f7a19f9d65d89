"""Levels: earned step by step, forced only with a reason, capped by weak walls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.gate.levels import Price, TrackRecord, effective_level, may_set
from midwatch.terms.trust import Isolation, Level
from tests.rules.worlds import levels

PRICE = Price(rounds_at_observe=12, nights_per_step=3)
records = st.builds(TrackRecord, valid_rounds=st.integers(0, 15), clean_nights=st.integers(0, 8))


@pytest.mark.parametrize(
    ("current", "wanted", "rounds", "nights", "allowed"),
    [
        (Level.OBSERVE, Level.CAUTIOUS, 12, 0, True),
        (Level.OBSERVE, Level.CAUTIOUS, 11, 99, False),
        (Level.CAUTIOUS, Level.MODERATE, 0, 3, True),
        (Level.CAUTIOUS, Level.MODERATE, 99, 2, False),
        (Level.MODERATE, Level.FULL, 0, 3, True),
        (Level.MODERATE, Level.FULL, 0, 2, False),
        (Level.CAUTIOUS, Level.FULL, 0, 6, True),
        (Level.CAUTIOUS, Level.FULL, 0, 5, False),
        (Level.OBSERVE, Level.MODERATE, 12, 2, False),
        (Level.FULL, Level.OBSERVE, 0, 0, True),
        (Level.MODERATE, Level.MODERATE, 0, 0, True),
    ],
)
def test_each_step_has_its_price(current: Level, wanted: Level, rounds: int, nights: int, allowed: bool) -> None:
    decision = may_set(current, wanted, TrackRecord(rounds, nights), price=PRICE)
    assert decision.allowed is allowed
    assert decision.reasons
    assert not decision.forced


@given(levels, levels, records, st.sampled_from(["", "  ", "I watched it"]))
def test_a_raise_is_earned_or_forced_with_a_reason(
    current: Level, wanted: Level, record: TrackRecord, because: str
) -> None:
    earned = may_set(current, wanted, record, price=PRICE).allowed
    decision = may_set(current, wanted, record, price=PRICE, forced_because=because)
    assert decision.allowed == (earned or bool(because.strip()))
    assert decision.forced == (decision.allowed and not earned)


@given(levels, st.sampled_from(Isolation), st.booleans())
def test_the_housekeeper_follows_the_orders(level: Level, isolation: Isolation, forced: bool) -> None:
    assert effective_level(level, isolation, "housekeeper", forced=forced) is level


@given(levels, st.sampled_from(Isolation), st.booleans())
def test_walls_never_raise_a_level(level: Level, isolation: Isolation, forced: bool) -> None:
    held = effective_level(level, isolation, "claude", forced=forced)
    assert held.rank <= level.rank
    assert held.rank <= effective_level(level, Isolation.BUBBLEWRAP, "claude").rank
    assert effective_level(level, Isolation.BUBBLEWRAP, "claude", forced=forced) is level
    if isolation is Isolation.NONE:
        assert held.rank <= (Level.CAUTIOUS if forced else Level.OBSERVE).rank


@pytest.mark.parametrize(("rounds", "nights", "allowed"), [(2, 4, True), (1, 4, False), (2, 3, False)])
def test_the_price_of_a_step_can_be_set(rounds: int, nights: int, allowed: bool) -> None:
    price = Price(rounds_at_observe=2, nights_per_step=2)
    assert may_set(Level.OBSERVE, Level.FULL, TrackRecord(rounds, nights), price=price).allowed is allowed
