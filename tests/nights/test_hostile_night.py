"""Twelve hours of agents that nest, fork, fill, hang, flood, lie and leave others behind (W6, X3, N19)."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from midwatch.terms.projects import SessionState
from midwatch.terms.records import JobRow
from midwatch.terms.trust import Isolation
from midwatch.workshop.holding import records
from midwatch.workshop.sandbox.deep_folders import remove
from midwatch.workshop.sandbox.isolation import found
from tests.conftest import missing
from tests.nights.hostile import KINDS, SETTINGS, HostileAgent, Taken, begins
from tests.nights.house import ONE_TRY, TestHouse, a_house
from tests.nights.test_first_night import all_is_well
from tests.nights.test_misbehaviour import marked

pytestmark = pytest.mark.slow
NOW = datetime.now(UTC)


@pytest.mark.sweep  # half a minute of processor; tests/nights/test_patrol.py has each duty by itself
@pytest.mark.parametrize(
    ("kinds", "times"),
    [(("Nest", "Leave"), 1), (tuple(KINDS), 3)],
    ids=["a short one", "twelve hours"],
)
async def test_a_night_of_harm_ends_in_time_and_leaves_nothing(
    tmp_path: Path, kinds: tuple[str, ...], times: int
) -> None:
    if found().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", found().why)
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "midwatch.toml").write_text(SETTINGS)
    agent, mounts = HostileAgent(), _mounts()
    try:
        async with a_house(home, begins=NOW, agents={"housekeeper": agent}, flags=ONE_TRY) as house:
            night = await begins(house, tmp_path, kinds=kinds, times=times)
            session = await night.passes(alone=times == 1)
            assert session.state is SessionState.DEBRIEF
            assert session.started_at is not None
            assert house.clock.now() - session.started_at <= timedelta(hours=12, minutes=1)
            await _every_job_ended_as_it_truly_did(house, kinds)
            await all_is_well(house)
            assert house.house.troubles() == ()
            assert marked(agent.mark) == []
            assert await house.house.workshop.rooms.living() == ()
            assert _groups_left(home) == []
            assert _mounts() == mounts
            _flat(night.taken)
            await _nothing_is_left(house, night.patrol.tidy)
    finally:
        _gone(tmp_path)


async def _every_job_ended_as_it_truly_did(house: TestHouse, kinds: tuple[str, ...]) -> None:
    jobs = await house.house.records.find(JobRow)
    wrong = [
        (job.number, job.title, job.state, job.why)
        for job in jobs
        if (job.state, KINDS[job.title.split()[0]].why in job.why) != (KINDS[job.title.split()[0]].state, True)
    ]
    assert wrong == []
    assert {job.title.split()[0] for job in jobs} == set(kinds)


def _flat(taken: Sequence[Taken]) -> None:
    if taken:
        third, last = taken[len(taken) // 3], taken[-1]
        assert last.descriptors <= third.descriptors + 8
        assert last.megabytes <= third.megabytes * 1.1 + 16


async def _nothing_is_left(house: TestHouse, tidy: Callable[[], Awaitable[None]]) -> None:
    """Work that exists nowhere else is kept until a person says otherwise; all else goes by its age."""
    home = house.house.home
    house.clock.jump_to(house.clock.now() + timedelta(days=4))
    await tidy()
    assert house.house.troubles() == ()
    for job in await house.house.records.find(JobRow):
        for kept in await house.house.workshop.upkeep.standing(job.id):
            assert kept.unique, f"job {job.number} ({job.title}) is kept for nothing"
        await house.house.workshop.upkeep.discard(job.id, force=True)
    left = [place for folder in ("checkouts", "quarantine") for place in (home / folder).glob("*")]
    assert [place.name for place in left if place.suffix != ".lock"] == []


def _gone(folder: Path) -> None:
    for place in folder.iterdir():  # pytest's own removal is a recursion
        remove(place)


def _mounts() -> list[str]:
    """List the mounts of this machine that have to do with us; others come and go as they like."""
    return [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if "midwatch" in line]


def _groups_left(home: Path) -> list[str]:
    """List the groups of agents that are still there."""
    states = [records.read_state(place) for place in home.glob("held/*/epoch-*")]
    named = {state.group for state in states if state is not None}
    assert named
    return [group for group in named if group and Path(group).exists()]
