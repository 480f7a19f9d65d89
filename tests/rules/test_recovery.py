"""Recovery: what failed and what to do next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.recovery.recovery import CAUSES, Cause, NextAct, back_off, classify, next_act


@pytest.mark.parametrize(
    ("text", "exit_code", "cause"),
    [
        ("HTTP 401 Unauthorized", 1, Cause.AUTH),
        ("request failed: 403 Forbidden after timeout", 1, Cause.AUTH),
        ("Error: not logged in", None, Cause.AUTH),
        ("429 Too Many Requests", 1, Cause.TRANSIENT),
        ("upstream answered 503", 1, Cause.TRANSIENT),
        ("the request timed out", 1, Cause.TRANSIENT),
        ("Connection reset by peer", 1, Cause.TRANSIENT),
        ("ModuleNotFoundError: No module named 'x'", 1, Cause.DEPENDENCY),
        ("sh: npm: command not found", 127, Cause.DEPENDENCY),
        ("E   AssertionError: 1 != 2", 1, Cause.LOGIC),
        ("3 failed, 12 passed", 1, Cause.LOGIC),
        ("", 124, Cause.TRANSIENT),
        ("", 137, Cause.MEMORY),
        ("", 127, Cause.DEPENDENCY),
        ("something odd", 1, Cause.UNKNOWN),
        ("line 14290 and 50312", None, Cause.UNKNOWN),
        ("", None, Cause.UNKNOWN),
    ],
)
def test_a_failure_is_known_by_what_it_printed_then_by_its_exit_code(
    text: str, exit_code: int | None, cause: Cause
) -> None:
    assert classify(text, exit_code) is cause


@given(st.text(max_size=200), st.none() | st.integers(-300, 300))
def test_any_failure_has_a_cause(text: str, exit_code: int | None) -> None:
    assert classify(text, exit_code) in Cause


@given(st.sampled_from(Cause), st.integers(0, 10), st.integers(0, 5))
def test_nothing_is_tried_beyond_its_cap_and_what_a_person_must_mend_never(cause: Cause, tries: int, cap: int) -> None:
    act = next_act(cause, tries, cap)
    assert act is (NextAct.ASK if tries >= cap else CAUSES[cause].act)


def test_every_cause_has_its_row() -> None:
    assert set(CAUSES) == set(Cause)
    for remedy in CAUSES.values():
        assert remedy.differently.endswith(".")
        assert remedy.person.endswith(".")
        assert not remedy.words.endswith(".")


def test_pauses_grow() -> None:
    assert [back_off(tries).total_seconds() for tries in (0, 1, 2, 3, 9)] == [60, 60, 240, 960, 960]
