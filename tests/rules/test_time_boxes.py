"""Time boxes: what an agent is told of the rest of its time."""

import re
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.budget.time_boxes import TIME_LEFT, time_left


@given(st.timedeltas(timedelta(minutes=-9), timedelta(hours=3)))
def test_an_agent_is_told_whole_minutes_and_never_that_none_are_left(left: timedelta) -> None:
    found = re.fullmatch(rf"Your time is over in about (\d+) minute(s?): {TIME_LEFT}\.", time_left(left))
    assert found is not None
    minutes = int(found[1])
    assert minutes >= 1
    assert bool(found[2]) == (minutes != 1)
    assert minutes == 1 or abs(timedelta(minutes=minutes) - left) <= timedelta(seconds=30)
