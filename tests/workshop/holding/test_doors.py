"""The doors of a sandbox belong to its holder: servers come and go, and whoever knocks meanwhile waits."""

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest

from midwatch.errors import Misuse, Refused, Unavailable
from midwatch.workshop.holding.adoption import adopt, launch
from midwatch.workshop.holding.held import HeldProgram
from midwatch.workshop.holding.spec import HolderLimits
from tests.patience import PATIENCE
from tests.workshop.holding import agents
from tests.workshop.holding.conftest import MakeSpec, everything, left_over, until

PORTS = (3128, 8317)
KNOCKS = """
import socket
def knock(port):
    line = socket.create_connection(("127.0.0.1", port))
    line.sendall(b"knock")
    return line
lines = [knock(port) for port in (3128, 8317)]
print("knocked", flush=True)
for line in lines:
    print(line.recv(99).decode(), flush=True)
"""
KNOCKS_WHEN_TOLD = """
import socket, sys
print("ready", flush=True)
for port in sys.stdin:
    line = socket.create_connection(("127.0.0.1", int(port)))
    print(line.recv(99).decode(), flush=True)
"""


@pytest.fixture
def walls(folder: Path) -> dict[str, Any]:
    return {"ports": PORTS, "control": folder / ("long" * 30) / "control"}


async def answer(door: socket.socket, word: bytes) -> None:
    """Serve one visitor."""
    visitor, _ = await asyncio.wait_for(asyncio.get_running_loop().sock_accept(door), PATIENCE)
    with visitor:
        visitor.sendall(word)


def close(*doors: socket.socket) -> None:
    for door in doors:
        door.close()


@pytest.mark.usefixtures("bubblewrap")
async def test_who_knocks_while_no_server_is_there_is_answered_by_the_next(
    walled: MakeSpec, mark: str, walls: dict[str, Any]
) -> None:
    held = await launch(walled(KNOCKS, walls=walls))
    await until(held, b"knocked")  # and the first server never asked for the doors
    second = await adopt(held.place.parent)
    assert isinstance(second, HeldProgram)
    egress, model = await second.doors()
    assert [door.getsockname()[1] for door in (egress, model)] == list(PORTS)
    assert not egress.getblocking()
    await answer(egress, b"egress")
    await answer(model, b"model")
    close(egress, model)
    assert await everything(second) == b"knocked\negress\nmodel\n"
    assert (await second.wait()).exit_code == 0
    assert left_over(mark, held.state) == []


@pytest.mark.usefixtures("bubblewrap")
async def test_doors_are_lent_again_and_again_and_outlive_whoever_closes_them(
    walled: MakeSpec, walls: dict[str, Any]
) -> None:
    held = await launch(walled(KNOCKS_WHEN_TOLD, walls=walls, takes_input=True))
    close(*await held.doors())  # asked before the sandbox can have opened them
    place = await until(held, b"ready")
    for number in range(3):
        await held.say(b"8317\n")
        doors = await held.doors()
        await answer(doors[1], b"visit %d" % number)
        close(*doors)
        place = await until(held, b"visit %d" % number, place)
    assert not walls["control"].exists()
    await held.stop(0.1)
    with pytest.raises(Unavailable, match="does not answer"):
        await held.doors()


async def test_a_job_without_doors_lends_none(agent: MakeSpec) -> None:
    held = await launch(agent(agents.QUIET))
    with pytest.raises(Refused, match="no doors"):
        await held.doors()
    await held.stop(0.1)


async def test_ports_need_a_control_socket(agent: MakeSpec) -> None:
    with pytest.raises(Misuse, match="no control socket"):
        await launch(agent(agents.QUIET, ports=PORTS))


@pytest.mark.parametrize(
    ("code", "why", "exit_code"),
    [
        (agents.QUIET, "they were not open in time", None),
        ("import sys; sys.exit(1)", "it ended first", 1),
        ("import socket; socket.socket(socket.AF_UNIX).connect('control')\n" + agents.SLEEP, "it ended first", None),
    ],
    ids=["never comes", "ends", "hangs up"],
)
async def test_doors_that_never_open_are_a_plain_sentence(
    agent: MakeSpec, folder: Path, mark: str, code: str, why: str, exit_code: int | None
) -> None:
    limits = HolderLimits(grace=0.2, doors=1.5)
    held = await launch(agent(code, ports=PORTS, control=folder / "control", limits=limits))
    ending = await held.wait()
    assert ending.sentence() == f"The agent did not begin, because its sandbox did not open its doors: {why}."
    assert (ending.how, ending.exit_code) == ("no_doors", exit_code)
    assert left_over(mark, held.state) == []


async def test_what_is_no_door_is_not_taken_for_one(agent: MakeSpec, folder: Path) -> None:
    impostor = """
import socket
line = socket.socket(socket.AF_UNIX)
line.connect("control")
door = socket.create_server(("127.0.0.1", 0))
socket.send_fds(line, [b"L"], [door.fileno()] * 2)
print(line.recv(1), flush=True)
"""
    held = await launch(agent(impostor + agents.SLEEP, ports=PORTS, control=folder / "control"))
    ending = await held.wait()
    assert ending.last_errors == ""
    assert (ending.how, ending.why) == ("no_doors", "it handed out something else")
    assert ending.last_words in {"", "b''\n"}


async def test_a_job_stopped_before_its_doors_open_is_stopped(agent: MakeSpec, folder: Path) -> None:
    held = await launch(agent(agents.QUIET, ports=PORTS, control=folder / "control"))
    asking = asyncio.create_task(held.doors())
    await until(held, b"ready")
    assert (await held.stop(0.1)).how == "stopped"
    with pytest.raises(Unavailable, match="does not answer"):
        await asking
