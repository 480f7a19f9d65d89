"""Asks: how long they wait and what silence means."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.people.asks import (
    NO,
    YES,
    agrees,
    approved_at_once,
    deadline_at,
    end_of_next_day,
    minutes_to_end_of_next_day,
    silence_in_words,
    what_silence_means,
)
from midwatch.settings import Settings
from midwatch.terms.asks import AskKind, Silence
from midwatch.terms.trust import Level
from tests.rules.worlds import levels

BERLIN = ZoneInfo("Europe/Berlin")
EVENING = datetime(2026, 3, 1, 22, 30, tzinfo=BERLIN)

# The table of SPEC 9, written down a second time: the minutes are the settings', what silence means is the rule's.
TERMS = {
    "approve_plan": (20, "waits"),
    "confirm_act": (5, "not_done"),
    "guidance_error": (15, "stop_and_debrief"),
    "guidance_uncertain": (60, "parked"),
    "question": (None, "to_brief"),
    "decision": (None, "to_brief"),
    "memory": (10080, "kept"),
    "conflict": (10080, "kept"),
    "authority": (10080, "kept"),
    "spend": (60, "no"),
}


@pytest.mark.parametrize("kind", AskKind)
def test_every_ask_says_its_deadline_and_what_silence_means(kind: AskKind) -> None:
    minutes = getattr(Settings().asks, f"{kind.value}_minutes") or None
    assert (minutes, what_silence_means(kind, Level.CAUTIOUS)) == TERMS[kind.value]


@given(st.sampled_from(AskKind), levels, st.booleans(), st.booleans(), st.booleans())
def test_silence_approves_only_an_untainted_plan_inside_its_scopes_that_the_orders_allow(
    kind: AskKind, level: Level, inside: bool, tainted: bool, allowed: bool
) -> None:
    silence = what_silence_means(kind, level, inside_scopes=inside, tainted=tainted, silence_approves=allowed)
    may = kind is AskKind.APPROVE_PLAN and inside and not tainted and level is not Level.OBSERVE
    assert (silence is Silence.APPROVED) == (may and (allowed or level is Level.FULL))
    assert approved_at_once(silence, level) == (may and level is Level.FULL)


@pytest.mark.parametrize("level", [Level.CAUTIOUS, Level.MODERATE, Level.FULL])
def test_a_plan_strangers_wrote_in_waits_for_the_person(level: Level) -> None:
    clean = what_silence_means(AskKind.APPROVE_PLAN, level, inside_scopes=True, silence_approves=True)
    tainted = what_silence_means(AskKind.APPROVE_PLAN, level, inside_scopes=True, silence_approves=True, tainted=True)
    assert (clean, tainted) == (Silence.APPROVED, Silence.WAITS)


@given(levels, levels, st.booleans(), st.booleans(), st.booleans())
def test_taint_never_helps_a_plan_and_a_higher_level_never_hinders_it(
    one: Level, other: Level, inside: bool, tainted: bool, allowed: bool
) -> None:
    def approved(level: Level, tainted: bool) -> bool:
        silence = what_silence_means(
            AskKind.APPROVE_PLAN, level, inside_scopes=inside, tainted=tainted, silence_approves=allowed
        )
        return silence is Silence.APPROVED

    low, high = sorted((one, other), key=lambda level: level.rank)
    assert approved(low, tainted) <= approved(high, tainted)
    assert approved(low, True) <= approved(low, False)


@given(st.datetimes(min_value=datetime(2020, 1, 1), max_value=datetime(2035, 1, 1)))  # noqa: DTZ001
def test_the_end_of_the_next_day_is_midnight_by_the_persons_clock(naive: datetime) -> None:
    local = naive.replace(tzinfo=BERLIN)
    end = end_of_next_day(local)
    assert (end.hour, end.minute, end.tzinfo) == (0, 0, BERLIN)
    assert end.date() - local.date() == timedelta(days=2)
    assert 23 * 60 <= minutes_to_end_of_next_day(local) <= 49 * 60


def test_a_deadline_over_a_clock_change_counts_real_minutes() -> None:
    before = datetime(2026, 3, 29, 1, 30, tzinfo=BERLIN)
    due = deadline_at(before, 60)
    assert due.astimezone(UTC) - before.astimezone(UTC) == timedelta(minutes=60)
    assert (due.hour, due.minute) == (3, 30)
    saturday = datetime(2026, 3, 28, 12, 0, tzinfo=BERLIN)
    assert minutes_to_end_of_next_day(saturday) == (36 - 1) * 60


def test_an_ask_is_due_after_its_minutes_or_at_the_end_of_the_next_day() -> None:
    assert deadline_at(EVENING, 9) == EVENING + timedelta(minutes=9)
    assert deadline_at(EVENING, 0) == EVENING
    assert deadline_at(EVENING, None) == datetime(2026, 3, 3, tzinfo=BERLIN)


def test_a_time_without_a_zone_is_taken_as_it_is() -> None:
    naive = EVENING.replace(tzinfo=None)
    assert deadline_at(naive, 5) == naive + timedelta(minutes=5)
    assert minutes_to_end_of_next_day(naive) == 25.5 * 60


@pytest.mark.parametrize("silence", Silence)
def test_every_silence_can_be_put_into_words(silence: Silence) -> None:
    assert silence_in_words(silence).endswith(".")
    assert "1 minutes" not in silence_in_words(silence, 1)


@pytest.mark.parametrize("word", sorted(YES))
def test_every_word_that_may_be_answered_means_the_same_everywhere(word: str) -> None:
    assert agrees(f" {word.upper()} ")
    assert not any(agrees(no) for no in (*NO, "", "maybe", Silence.NOT_DONE.value))
