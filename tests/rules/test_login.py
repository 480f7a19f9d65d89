"""Laws of the door: roles grow, guessing is slowed, passwords are real."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.people.login import (
    MOST_FAILURES,
    WINDOW,
    is_over,
    objection_to_name,
    objection_to_password,
    wait_before_trying,
)
from midwatch.terms.people import LOWEST_ROLE, Login, Role, Scope

NOW = datetime(2026, 3, 1, 21, 0, tzinfo=UTC)
seconds = st.lists(st.floats(0, 300), max_size=30)


def test_each_role_may_do_all_that_the_one_before_may() -> None:
    roles = list(Role)
    assert all(less.scopes < more.scopes for less, more in pairwise(roles))
    assert Role.VIEWER.scopes == {Scope.READ}
    assert Role.OWNER.scopes == set(Scope)
    assert {scope: LOWEST_ROLE[scope] for scope in Scope} == dict(zip(Scope, Role, strict=True))


@given(seconds)
def test_no_more_than_a_handful_of_failures_fit_into_any_minute(pauses: list[float]) -> None:
    now = NOW
    failures: list[datetime] = []
    for pause in pauses:
        now += timedelta(seconds=pause)
        if not wait_before_trying(failures, now):
            failures.append(now)
    for end in failures:
        assert sum(end - WINDOW < at <= end for at in failures) <= MOST_FAILURES


@given(seconds)
def test_whoever_waits_as_told_may_try_again(ago: list[float]) -> None:
    failures = [NOW - timedelta(seconds=one) for one in ago]
    wait = wait_before_trying(failures, NOW)
    assert not wait_before_trying(failures, NOW + wait)
    assert wait <= WINDOW


@given(st.text(max_size=11))
def test_a_short_password_never_will_do(password: str) -> None:
    assert objection_to_password(password, "ann")


def test_a_sentence_will_do_as_a_password_but_not_the_own_name() -> None:
    assert objection_to_password("a quiet night of work", "ann") == ""
    assert objection_to_password("Annabel-Smith", "annabel-smith")
    assert objection_to_password("x" * 2000, "ann")


@given(st.text(max_size=80))
def test_a_name_that_will_do_can_be_shown_anywhere(name: str) -> None:
    if not objection_to_name(name):
        assert name.isprintable()
        assert 0 < len(name) <= 60
        assert not set(name) & set("<>@/\\:#")


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_login_is_over_when_unused_or_old(passed: int, idle: int, longest: int) -> None:
    login = Login(id="a", person="b", csrf="c", seen_at=NOW, expires_at=NOW + timedelta(seconds=longest))
    over = is_over(login, NOW + timedelta(seconds=passed), timedelta(seconds=idle))
    assert over == (passed >= idle or passed >= longest)
