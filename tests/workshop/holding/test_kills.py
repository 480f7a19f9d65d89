"""SIGKILL for agent, holder, guardian and server, in any order: no process stays, no line is lost, a verdict stands."""

import asyncio
import contextlib
import itertools
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from midwatch.workshop.holding import records
from midwatch.workshop.holding.adoption import EndedProgram, Lost, adopt, launch
from midwatch.workshop.holding.held import HeldProgram
from midwatch.workshop.holding.log_file import read_piece
from tests.conftest import missing
from tests.patience import PATIENCE
from tests.workshop.holding import agents, server
from tests.workshop.holding.conftest import MakeSpec, left_over, until

ALL = ("agent", "holder", "guardian", "server")
ORDERS = [
    *itertools.permutations(ALL, 3),
    *(pytest.param(order, marks=pytest.mark.sweep) for order in itertools.permutations(ALL)),
]
LINES = "".join(f"line {number}\n" for number in range(1000)).encode() + b"ready\n"


@asynccontextmanager
async def serving(mark: str, code: str, *folders: Path) -> AsyncIterator[int]:
    """Run a server that has launched agents and heard each say that it is ready."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(server.__file__), mark, code, *map(str, folders)),
        stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), PATIENCE)
        yield process.pid
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def output(place: Path) -> bytes:
    """Read all that is kept of a stream."""
    data, after = b"", 0
    while piece := read_piece(place / records.OUT, after):
        data, after = data + piece.data, piece.after
    return data


@pytest.mark.crash
@pytest.mark.parametrize("order", ORDERS, ids="-".join)
async def test_killed_in_any_order_nothing_stays_and_nothing_is_lost(
    agent: MakeSpec, mark: str, order: tuple[str, ...]
) -> None:
    folder = agent("").folder
    async with serving(mark, agents.STAYS_WITH_DAEMON, folder) as server_pid:
        state = records.read_state(records.epoch_folder(folder, 1))
        assert state is not None
        pids = {"agent": state.agent, "holder": state.holder, "guardian": state.guardian, "server": server_pid}
        for victim in order:
            with contextlib.suppress(ProcessLookupError):  # an earlier death may have ended it
                os.kill(pids[victim], signal.SIGKILL)
        found = await asyncio.wait_for(adopt(folder), PATIENCE)
        if isinstance(found, HeldProgram):  # alive for a last moment
            await found.wait()
            found = await adopt(folder)
    assert isinstance(found, EndedProgram | Lost)
    assert found.ending is not None
    assert found.ending.sentence()
    assert output(found.place) == LINES
    assert left_over(mark, state) == []
    assert await adopt(folder) == found  # the verdict stands


async def test_a_killed_holder_takes_its_tree_along_and_is_called_lost(agent: MakeSpec, mark: str) -> None:
    held = await launch(agent(agents.STAYS_WITH_DAEMON))
    await until(held, b"ready")
    os.kill(held.state.holder, signal.SIGKILL)
    ending = await held.wait()
    assert left_over(mark, held.state) == []  # before anybody looks for marks: the guardian did it
    assert (ending.how, ending.why, ending.clean) == ("lost", "signal 9 killed it", True)
    assert ending.last_words.endswith("ready\n")
    found = await adopt(held.place.parent)
    assert isinstance(found, Lost)
    assert (found.state, found.ending) == (held.state, ending)


async def test_lines_the_holder_had_not_read_outlive_it(agent: MakeSpec, folder: Path) -> None:
    held = await launch(agent(agents.SPEAKS_TO_NOBODY, takes_input=True))
    await until(held, b"ready\n")
    os.mkfifo(folder / "told")
    os.mkfifo(folder / "said")
    await held.say(b"go\n")
    await until(held, b"going\n")
    os.kill(held.state.holder, signal.SIGSTOP)
    await asyncio.to_thread((folder / "told").write_text, "the holder is frozen")
    await asyncio.to_thread((folder / "said").read_text)
    os.kill(held.state.holder, signal.SIGKILL)
    assert (await held.wait()).last_words == "ready\ngoing\nnobody reads this\n"


async def test_a_killed_guardian_ends_the_agent_with_a_verdict(agent: MakeSpec, mark: str) -> None:
    held = await launch(agent(agents.STAYS_WITH_DAEMON))
    await until(held, b"ready")
    os.kill(held.state.guardian, signal.SIGKILL)
    ending = await held.wait()
    assert (ending.how, ending.signal) == ("unguarded", 15)
    assert left_over(mark, held.state) == []


async def test_a_frozen_holder_can_still_be_stopped(
    agent: MakeSpec, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("midwatch.workshop.holding.held.ANSWER_SECONDS", 0.5)
    held = await launch(agent(agents.IGNORES_TERM))
    await until(held, b"ready")
    os.kill(held.state.holder, signal.SIGSTOP)
    assert (await held.stop(0.1)).how == "stopped"
    assert left_over(mark, held.state) == []


async def test_a_killed_server_leaves_the_agent_working_for_the_next(agent: MakeSpec, mark: str) -> None:
    folder = agent("").folder
    code = agents.READY + agents.CHATTY
    async with serving(mark, code, folder) as server_pid:
        os.kill(server_pid, signal.SIGKILL)
    held = await adopt(folder)
    assert isinstance(held, HeldProgram)
    place = await until(held, b"line 3\n")
    await until(held, b"\n", place)  # it goes on speaking
    assert (await held.stop(0.1)).how == "stopped"
    lines = output(held.place).split(b"\n")[1:-1]
    assert lines[:-1] == [b"line %d" % number for number in range(len(lines) - 1)]
    assert left_over(mark, held.state) == []


@pytest.mark.slow
@pytest.mark.crash
@pytest.mark.parametrize("jobs", [12, pytest.param(50, marks=pytest.mark.sweep)])
async def test_many_chatty_jobs_outlive_their_server_without_losing_a_line(
    agent: MakeSpec, mark: str, tmp_path: Path, jobs: int
) -> None:
    folders = [agent("", job=tmp_path / "jobs" / str(number)).folder for number in range(jobs)]
    async with serving(mark, agents.READY + agents.CHATTY, *folders) as server_pid:
        os.kill(server_pid, signal.SIGKILL)
    found = await asyncio.gather(*[adopt(folder, epoch=2) for folder in folders])
    alive = [held for held in found if isinstance(held, HeldProgram)]
    assert len(alive) == len(folders)
    await asyncio.gather(*[until(held, b"line 20\n") for held in alive])
    endings = await asyncio.gather(*[held.stop(1.0) for held in alive])
    assert {ending.how for ending in endings} == {"stopped"}
    for held, ending in zip(alive, endings, strict=True):
        said = output(held.place)
        assert len(said) == ending.out_bytes
        lines = said.split(b"\n")
        assert lines[0] == b"ready"
        assert lines[1:-1] == [b"line %d" % number for number in range(len(lines) - 2)]
    assert left_over(mark, *(held.state for held in alive)) == []


@pytest.mark.crash
async def test_holder_and_guardian_killed_in_one_blow_leave_nothing_of_a_sandbox(agent: MakeSpec, mark: str) -> None:
    bwrap = shutil.which("bwrap") or missing("bwrap", "it is not installed")
    sandbox = (bwrap, "--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
    code = ("--clearenv", sys.executable, "-I", "-S", "-c", agents.STAYS_WITH_DAEMON)
    held = await launch(agent("", argv=(*sandbox, "--args", "9", *code), fds={9: b"--setenv\0INSIDE\0yes\0"}))
    await until(held, b"ready")
    for pid in (held.state.guardian, held.state.holder):
        os.kill(pid, signal.SIGSTOP)  # neither may help
    for pid in (held.state.guardian, held.state.holder):
        os.kill(pid, signal.SIGKILL)
    ending = await held.wait()
    assert (ending.how, ending.why) == ("lost", "it and its guardian were killed")
    assert left_over(mark, held.state) == []


async def test_a_sandboxed_agent_has_its_grace(agent: MakeSpec) -> None:
    bwrap = shutil.which("bwrap") or missing("bwrap", "it is not installed")
    sandbox = (bwrap, "--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
    polite = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: (time.sleep(0.3), sys.exit(5)))\n"
    code = (sys.executable, "-I", "-S", "-c", polite + agents.QUIET)
    held = await launch(agent("", argv=(*sandbox, *code)))
    await until(held, b"ready")
    ending = await held.stop(30.0)
    assert (ending.how, ending.exit_code) == ("stopped", 5)
