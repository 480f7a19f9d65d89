"""kill -9 between an approval and its place: approved work still goes on one by one, and all of it is delivered."""

import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

from midwatch.compose.house import House
from midwatch.journal.events.jobs import JobWaits
from midwatch.rules.recovery.liveness import PLACE
from midwatch.store.rebuild import audit
from midwatch.surfaces.queries.audit import violations
from midwatch.surfaces.queries.replay import every_entry
from midwatch.terms.jobs import JobState
from midwatch.terms.records import JobRow
from tests.crash.doomed import FLAGS
from tests.crash.doomed_places import ONE_PLACE
from tests.nights.eighteen import begins
from tests.nights.house import a_house
from tests.store.processes import run_module

KILLS = [
    ("job.approved", 3, True),
    ("job.waits", 1, False),
    ("job.waits", 1, True),
    ("job.ended", 1, False),
    ("job.ended", 1, True),
    ("job.woken", 1, False),
    ("job.woken", 1, True),
]
"""The kind of entry, which one of them, and whether it is committed; its process dies before it acts on it."""


async def three_plans(folder: Path) -> None:
    """Bring a night to three plans that wait for approval."""
    async with a_house(folder / "home", begins=datetime.now(UTC), flags=FLAGS) as house:
        await begins(house, folder, works=3, repositories=3)
        await house.settle()
        waiting = await house.house.records.find(JobRow, state=JobState.WAITING)
        assert len(waiting) == 3


def runs(home: Path, *how: str) -> int:
    code, said = run_module("tests.crash.doomed_places", str(home), *how)
    assert code in {0, -signal.SIGKILL}, said
    return code


async def all_delivered(home: Path) -> None:
    found = audit(f"sqlite:///{home / 'midwatch.db'}")
    assert (found.broken, found.differs) == ("", ())
    house = House(home, flags=ONE_PLACE)
    try:
        assert await violations(house) == ()
        assert [row.state for row in await house.records.find(JobRow)] == [JobState.DONE] * 3
        entries = await every_entry(house)
        assert [one for one in entries if isinstance(one.event, JobWaits) and one.event.cause == PLACE]
    finally:
        await house.dispose()


@pytest.mark.crash
@pytest.mark.parametrize(("kind", "times", "committed"), [KILLS[2], KILLS[4]])
async def test_a_kill_between_approval_and_place_changes_nothing(
    tmp_path: Path, kind: str, times: int, *, committed: bool
) -> None:
    await _killed(tmp_path, kind, times, committed=committed)


@pytest.mark.crash
@pytest.mark.sweep
@pytest.mark.parametrize(("kind", "times", "committed"), KILLS)
async def test_a_kill_anywhere_between_approval_and_place_changes_nothing(
    tmp_path: Path, kind: str, times: int, *, committed: bool
) -> None:
    await _killed(tmp_path, kind, times, committed=committed)


async def _killed(folder: Path, kind: str, times: int, *, committed: bool) -> None:
    await three_plans(folder)
    how = ("--kind", kind, "--times", str(times), *(("--committed",) if committed else ()))
    assert runs(folder / "home", *how) == -signal.SIGKILL
    assert runs(folder / "home") == 0
    await all_delivered(folder / "home")
