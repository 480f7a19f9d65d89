"""Agents that fork for ever, in walls and without: no list of processes is ever true, and yet nothing of them stays."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.holding import records, tree
from midwatch.workshop.holding.adoption import launch
from midwatch.workshop.holding.ending import Ending
from midwatch.workshop.holding.held import HeldProgram
from midwatch.workshop.holding.spec import HolderLimits, Spec
from midwatch.workshop.sandbox.walls import groups
from tests.patience import PATIENCE
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


class Storm:
    """A launched agent that forks for ever, and what is left of it."""

    def __init__(self, held: HeldProgram) -> None:
        self.held = held
        below = tree.descendants(held.state.agent)
        self._rooms = {_room(found.pid) for found in below} - {_room(os.getpid()), ""}
        self._first = [os.pidfd_open(found.pid) for found in below if _is_first_inside(found.pid)]

    def left(self) -> list[int]:
        """Name all that is in its pid namespace or in its group."""
        numbers = [int(found.name) for found in Path("/proc").iterdir() if found.name.isdigit()]
        inside = [pid for pid in numbers if tree.start_time(pid) is not None and _room(pid) in self._rooms]
        group = self.held.state.group
        return inside + sorted(groups.members(group) if group else ())

    def has_group(self) -> bool:
        """Tell whether its group is still there."""
        return bool(self.held.state.group) and Path(self.held.state.group).exists()

    async def namespace_gone(self) -> None:
        """Wait until the kernel has taken down the pid namespace, if there is one; its first process is the last."""
        loop = asyncio.get_running_loop()
        for pidfd in self._first:
            over = asyncio.Event()
            loop.add_reader(pidfd, over.set)
            await asyncio.wait_for(over.wait(), PATIENCE)
            loop.remove_reader(pidfd)
            os.close(pidfd)

    async def check_end(self, mark: str, ending: Ending) -> None:
        """See that nothing is left, and that the verdict says so."""
        await self.namespace_gone()
        assert (self.left(), left_over(mark, self.held.state)) == ([], [])
        assert ending.clean
        assert not self.has_group()


async def begun(spec: Spec) -> Storm:
    """Launch it and wait until it forks."""
    held = await launch(spec)
    await until(held, b"ready")
    storm = Storm(held)
    assert storm.left() != []
    return storm


def _room(pid: int) -> str:
    try:
        return str(Path("/proc", str(pid), "ns", "pid").readlink())
    except OSError:
        return ""


async def test_stopped_it_ends_wholly(walled: MakeSpec, isolation: Isolation, mark: str) -> None:
    storm = await begun(walled(agents.FORKS_FOREVER, isolation))
    ending = await storm.held.stop(0.2)
    await storm.check_end(mark, ending)
    assert (ending.how, ending.signal) == ("stopped", 9)


async def test_out_of_time_it_ends_wholly(walled: MakeSpec, isolation: Isolation, mark: str) -> None:
    storm = await begun(walled(agents.FORKS_FOREVER, isolation, limits=HolderLimits(wall=2.0, grace=0.1)))
    ending = await storm.held.wait()
    await storm.check_end(mark, ending)
    assert ending.how == "wall"


def kill(*pids: int) -> None:
    """Kill them in one blow: frozen first, so that neither sees the other die."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            os.kill(pid, number)


@pytest.mark.crash
@pytest.mark.parametrize("victims", KILLS, ids=" and ".join)
async def test_without_its_keepers_it_ends_wholly(
    walled: MakeSpec, isolation: Isolation, mark: str, victims: Victims
) -> None:
    storm = await begun(walled(agents.FORKS_FOREVER, isolation))
    kill(*[getattr(storm.held.state, victim) for victim in victims])
    ending = await asyncio.wait_for(storm.held.wait(), PATIENCE)
    await storm.check_end(mark, ending)
    assert ending.how == ("unguarded" if victims == ("guardian",) else "lost")


@pytest.mark.crash
@pytest.mark.usefixtures("bubblewrap")
async def test_walls_need_no_group_and_nobody_who_looks_for_leftovers(agent: MakeSpec) -> None:
    """Bare bwrap, both keepers dead, and no server that settles: the pid namespace alone does it."""
    bwrap = ("bwrap", "--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
    storm = await begun(agent("", argv=(*bwrap, sys.executable, "-I", "-S", "-c", agents.FORKS_FOREVER)))
    kill(storm.held.state.guardian, storm.held.state.holder)
    await storm.namespace_gone()
    assert storm.left() == []
    assert not (storm.held.place / records.EXIT).exists()  # nobody but the kernel was at work


@pytest.mark.crash
async def test_without_its_keepers_a_daemon_behind_the_threshold_is_found_by_its_mark(
    walled: MakeSpec, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no group can be made, the mark in the environment is all there is."""
    held = await launch(walled(agents.STAYS_WITH_DAEMON, Isolation.NONE))
    await until(held, b"ready")
    daemons = tree.marked(f"{records.MARK}={records.mark_of(held.place)}")
    assert len(daemons) == 2
    kill(held.state.guardian, held.state.holder)
    monkeypatch.setattr(records, "group_of", lambda *_: None)
    assert (await held.wait()).clean
    assert [found for found in daemons if tree.start_time(found.pid) == found.start] == []
    assert left_over(mark, held.state) == []


def _is_first_inside(pid: int) -> bool:
    try:
        lines = Path("/proc", str(pid), "status").read_text().splitlines()
    except OSError:
        return False
    return [line.split()[1:][-1] for line in lines if line.startswith("NSpid") and len(line.split()) > 2] == ["1"]
