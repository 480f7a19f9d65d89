"""Clocks: hurried ones go on after a restart, stepped ones never go back."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from midwatch.engine.clocks import ScaledClock, SystemClock
from tests.stepped_clock import SteppedClock
from tests.store.opened import EVENING

AWARE = st.datetimes(timezones=st.just(UTC), min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1))  # noqa: DTZ001


def test_the_wall_clock_is_aware_and_does_not_hurry() -> None:
    clock = SystemClock()
    assert clock.now().utcoffset() == timedelta(0)
    assert clock.real_seconds(90) == 90


def test_a_hurried_clock_goes_on_where_it_was_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "clock.json"
    first = ScaledClock.kept(file, scale=1000)
    before, kept = first.now(), file.read_text()
    again = ScaledClock.kept(file, scale=5)  # another wish changes nothing: the night has its pace
    assert file.read_text() == kept
    assert before <= again.now() <= first.now()
    assert again.real_seconds(1000) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["clock.json"]


def test_a_hurried_clock_runs_by_its_scale() -> None:
    anchor = SystemClock().now() - timedelta(seconds=10)
    passed = ScaledClock(anchor, EVENING, 60).now() - EVENING
    assert timedelta(minutes=10) <= passed
    assert ScaledClock(anchor, EVENING, 60).real_seconds(60) == 1


def test_a_draft_left_by_a_kill_does_not_hurt(tmp_path: Path) -> None:
    (tmp_path / "clock.json.part").write_text('{"anch')
    clock = ScaledClock.kept(tmp_path / "clock.json", scale=60)
    assert clock.real_seconds(60) == 1
    assert json.loads((tmp_path / "clock.json").read_text())["scale"] == 60


@given(st.lists(AWARE, max_size=10))
def test_a_stepped_clock_never_goes_back(jumps: list[datetime]) -> None:
    clock = SteppedClock(EVENING)
    last = clock.now()
    for jump in jumps:
        clock.jump_to(jump)
        now = clock.now()
        assert now > last
        assert now > jump
        last = now
    assert clock.real_seconds(3600) == 0
