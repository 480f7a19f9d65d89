"""Recovery: what failed and what to do next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.recovery import Cause, NextStep, classify, next_step


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
        ("", 137, Cause.TRANSIENT),
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
def test_nothing_is_tried_beyond_its_cap_and_a_refused_credential_never_again(
    cause: Cause, tries: int, cap: int
) -> None:
    step = next_step(cause, tries, cap)
    assert (step is NextStep.RETRY) == (cause is not Cause.AUTH and tries < cap)
    assert (step is NextStep.GIVE_UP) == (cause is Cause.TRANSIENT and tries >= cap)
