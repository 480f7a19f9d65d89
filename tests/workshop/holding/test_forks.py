"""Agents that fork for ever, in walls and without: no list of processes is ever true, and yet nothing of them stays."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.holding import records, tree
from midwatch.workshop.holding.adoption import launch
from midwatch.workshop.holding.ending import Ending
from midwatch.workshop.holding.held import Held
from midwatch.workshop.holding.spec import Limits, Spec
from midwatch.workshop.walls import groups
from tests.workshop.holding import agents
from tests.workshop.holding.conftest import MakeSpec, left_over, until

Victims = tuple[str, ...]
KILLS: list[Victims] = [("holder",), ("guardian",), ("guardian", "holder")]


@pytest.fixture(params=[Isolation.BUBBLEWRAP, Isolation.NONE])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    """Each kind of walls in which fork storms can be ended, or no test."""
    wanted: Isolation = request.param
    request.getfixturevalue("group_of_its_own" if wanted is Isolation.NONE else "bubblewrap")
    return wanted


async def begun(spec: Spec) -> tuple[Held, Callable[[], list[int]]]:
    """Launch it, wait until it forks, and learn to tell what is left of it."""
    held = await launch(spec)
    await until(held, b"ready")
    rooms = {_room(found.pid) for found in tree.descendants(held.state.agent)} - {_room(os.getpid()), ""}

    def left() -> list[int]:
        inside = [found.pid for found in tree.everyone() if _room(found.pid) in rooms]
        return inside + sorted(groups.members(Path(held.state.group)) if held.state.group else ())

    assert left() != []
    return held, left


def _room(pid: int) -> str:
    try:
        return str(Path("/proc", str(pid), "ns", "pid").readlink())
    except OSError:
        return ""


def check_end(held: Held, mark: str, left: Callable[[], list[int]], ending: Ending) -> None:
    """Nothing is left, and the verdict says so."""
    assert (left(), left_over(mark, held.state)) == ([], [])
    assert ending.clean
    assert not (held.state.group and Path(held.state.group).exists())


async def test_stopped_it_ends_wholly(walled: MakeSpec, isolation: Isolation, mark: str) -> None:
    held, left = await begun(walled(agents.FORKS_FOREVER, isolation))
    ending = await held.stop(0.2)
    check_end(held, mark, left, ending)
    assert (ending.how, ending.signal) == ("stopped", 9)


async def test_out_of_time_it_ends_wholly(walled: MakeSpec, isolation: Isolation, mark: str) -> None:
    held, left = await begun(walled(agents.FORKS_FOREVER, isolation, limits=Limits(wall=2.0, grace=0.1)))
    ending = await held.wait()
    check_end(held, mark, left, ending)
    assert ending.how == "wall"


@pytest.mark.crash
@pytest.mark.parametrize("victims", KILLS, ids=" and ".join)
async def test_without_its_keepers_it_ends_wholly(
    walled: MakeSpec, isolation: Isolation, mark: str, victims: Victims
) -> None:
    held, left = await begun(walled(agents.FORKS_FOREVER, isolation))
    pids = [getattr(held.state, victim) for victim in victims]
    for number in (signal.SIGSTOP, signal.SIGKILL):  # frozen first, so that neither sees the other die
        for pid in pids:
            os.kill(pid, number)
    ending = await asyncio.wait_for(held.wait(), 60)
    check_end(held, mark, left, ending)
    assert ending.how == ("unguarded" if victims == ("guardian",) else "lost")


@pytest.mark.crash
@pytest.mark.usefixtures("bubblewrap")
async def test_walls_need_no_group_and_nobody_who_looks_for_leftovers(agent: MakeSpec) -> None:
    """Bare bwrap, both keepers dead, and no server that settles: the pid namespace alone does it."""
    bwrap = ("bwrap", "--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
    spec = agent("", argv=(*bwrap, sys.executable, "-I", "-S", "-c", agents.FORKS_FOREVER))
    held, left = await begun(spec)
    [first] = [found for found in tree.descendants(held.state.agent) if _is_first_inside(found.pid)]
    pidfd = os.pidfd_open(first.pid)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in (held.state.guardian, held.state.holder):
            os.kill(pid, number)
    over = asyncio.Event()
    asyncio.get_running_loop().add_reader(pidfd, over.set)
    try:
        await asyncio.wait_for(over.wait(), 60)
    finally:
        asyncio.get_running_loop().remove_reader(pidfd)
        os.close(pidfd)
    assert left() == []
    assert not (held.place / records.EXIT).exists()  # nobody but the kernel was at work


def _is_first_inside(pid: int) -> bool:
    numbers = [line for line in Path("/proc", str(pid), "status").read_text().splitlines() if line[:5] == "NSpid"]
    return numbers[0].split()[2:] == ["1"]
