"""kill -9 anywhere inside record(): the entries, the rows and the queued work are all there, or none of them is."""

import signal

import pytest

from midwatch.store.rebuild import verify_chain
from tests.store import processes, writers
from tests.store.opened import Store

AFTER_IT_ALL = 1001


def grown(store: Store) -> tuple[int, ...]:
    """How many entries, messages, jobs and pieces of queued work there are."""
    return store.counts("journal", "messages", "jobs", "queued_work")


@pytest.mark.crash
async def test_a_kill_anywhere_leaves_all_or_nothing(store: Store) -> None:
    everything, before, point, survived = (2, 1, 1, 1), grown(store), 0, False
    while not survived:
        point += 1
        code = processes.run(writers.record_and_die, store.url, point)
        survived = code == 0
        assert survived or code == -signal.SIGKILL
        now = grown(store)
        change = tuple(b - a for a, b in zip(before, now, strict=True))
        assert change == (everything if survived else (0, 0, 0, 0)), (
            f"killed at point {point}: journal, messages, jobs, queued work"
        )
        before = now
    assert point > 15  # statements of the entry, the rows and the queue, each before and after, and the commit
    assert processes.run(writers.record_and_die, store.url, AFTER_IT_ALL) == -signal.SIGKILL
    assert grown(store) == tuple(a + b for a, b in zip(before, everything, strict=True))
    with store.behind() as connection:
        assert verify_chain(connection) == (4, "")
