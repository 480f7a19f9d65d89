"""The nursery: holders that it forks are the same as holders that are started, and do not depend on it."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.workshop.holding.adoption import launch
from midwatch.workshop.holding.nursery import Nursery
from tests.patience import PATIENCE
from tests.workshop.holding import agents
from tests.workshop.holding.conftest import MakeSpec, about, everything, left_over, until

SERVER = """
import sys, time
from midwatch.workshop.holding.nursery import Nursery
nursery = Nursery()
nursery.open()
print(nursery._process.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    one = Nursery()
    one.open()
    yield one
    one.close()


def number_of(nursery: Nursery) -> int:
    assert nursery._process is not None
    return nursery._process.pid


async def test_a_forked_holder_holds_as_a_started_one_does(agent: MakeSpec, mark: str, nursery: Nursery) -> None:
    spec = agent("import sys; print(sys.stdin.read()); sys.exit(3)", takes_input=True)
    held = await launch(spec, nursery)
    assert (await launch(spec, nursery)).state == held.state
    await held.say(b"hello", ends=True)
    assert await everything(held) == b"hello\n"
    ending = await held.wait()
    assert (ending.how, ending.exit_code) == ("exited", 3)
    assert left_over(mark, held.state) == []


async def test_a_forked_holder_has_nothing_of_the_server(agent: MakeSpec, nursery: Nursery) -> None:
    forked, started = await launch(agent(agents.QUIET), nursery), await launch(agent(agents.QUIET, epoch=2))
    assert (await forked.wait()).how == "stopped"
    forked = await launch(agent(agents.QUIET, epoch=3), nursery)
    for name in ("holder", "guardian"):
        pid = getattr(forked.state, name)
        assert about(pid, "environ") == ""
        assert os.getsid(pid) not in {os.getsid(0), os.getsid(number_of(nursery))}
        assert os.getpgid(pid) != os.getpgid(number_of(nursery))
    assert (await started.wait()).how == "stopped"
    await until(forked, b"ready")
    files = {"/dev/null", "holder.err", "lock", "anon_inode", "pipe", "socket", f"{0:016d}"}
    assert open_files(forked.state.holder) == files
    assert int(about(forked.state.guardian, "stat").rpartition(")")[2].split()[1]) not in {
        os.getpid(),
        number_of(nursery),
    }
    await forked.stop(0.1)


def open_files(pid: int) -> set[str]:
    """Name what a process has open, without numbers."""
    found = set()
    for entry in Path("/proc", str(pid), "fd").iterdir():
        what = str(entry.readlink())
        found.add(what if what.startswith("/dev/") else Path(what).name.split(":")[0].strip("[]"))
    return found


async def test_holders_are_forked_at_the_same_time(agent: MakeSpec, folder: Path, nursery: Nursery) -> None:
    specs = [agent("print('x' * 100_000)", job=folder.with_name(f"job-{number}")) for number in range(10)]
    held = await asyncio.gather(*(launch(spec, nursery) for spec in specs))
    assert {len(await everything(one)) for one in held} == {100_001}


async def test_without_its_nursery_a_holder_lives_on_and_others_are_started(agent: MakeSpec, nursery: Nursery) -> None:
    held = await launch(agent(agents.QUIET), nursery)
    os.kill(number_of(nursery), signal.SIGKILL)
    await held.beat()
    other = await launch(agent("print('ready')", epoch=2), nursery)
    assert (await held.wait()).how == "stopped"
    assert await everything(other) == b"ready\n"


async def test_a_closed_nursery_leaves_its_holders(agent: MakeSpec, mark: str, nursery: Nursery) -> None:
    held = await launch(agent(agents.ECHOES, takes_input=True), nursery)
    await asyncio.to_thread(nursery.close)
    await held.say(b"still here\n")
    await until(held, b"still here")
    await held.stop(0.1)
    assert left_over(mark, held.state) == []


def test_a_nursery_ends_with_its_server() -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        number = os.pidfd_open(int(server.stdout.readline()))
        server.kill()
    ended, _, _ = select.select([number], [], [], PATIENCE)
    os.close(number)
    assert ended
