"""Listeners opened inside are served outside, and without whoever serves them nothing begins."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from midwatch.errors import Broken
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.walls.doors import Doors, waiting_at
from tests.workshop.walls.lab import Lab, python_inside

PORTS = (3128, 8317)
ASK = python_inside("""
import socket
for port in (3128, 8317):
    print(socket.create_connection(('127.0.0.1', port), 20).recv(99).decode())
""")


def control_of(lab: Lab) -> Path:
    """A socket whose path is longer than a socket's path may be."""
    folder = lab.folder / "notes" / ("long" * 30)
    folder.mkdir(exist_ok=True)
    return folder / "control"


def start(lab: Lab, script: str) -> subprocess.Popen[bytes]:
    control = control_of(lab)
    shutil.chown(control, lab.user)
    command = lab.command(lab.walls(ports=PORTS, control=control), ["bash", "-c", script])
    # From this thread, which lives: bwrap dies with the thread that started it.
    return subprocess.Popen(
        command, env={}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **lab.as_user()
    )


async def serve(listener: socket.socket, word: bytes) -> None:
    connection, _ = await asyncio.get_running_loop().sock_accept(listener)
    with connection:
        connection.send(word)


async def test_each_port_inside_is_served_from_outside(lab: Lab) -> None:
    async with waiting_at(control_of(lab)) as doors:
        process = start(lab, ASK)
        egress, model = await doors.listeners(PORTS)
        doors.let_in()
        await serve(egress, b"egress")
        await serve(model, b"model")
        out, _ = await asyncio.to_thread(process.communicate)
        egress.close()
        model.close()
    assert (process.returncode, out) == (0, b"egress\nmodel\n")


async def test_a_door_whose_server_has_gone_is_shut(lab: Lab) -> None:
    async with waiting_at(control_of(lab)) as doors:
        process = start(lab, ASK)
        for listener in await doors.listeners(PORTS):
            listener.close()
        doors.let_in()
        _, errors = await asyncio.to_thread(process.communicate)
    assert process.returncode != 0
    assert b"Connection refused" in errors


async def test_nothing_begins_when_the_server_leaves_first(lab: Lab) -> None:
    async with waiting_at(control_of(lab)) as doors:
        process = start(lab, "touch begun")
        for listener in await doors.listeners(PORTS):
            listener.close()
    _, errors = await asyncio.to_thread(process.communicate)
    assert (process.returncode, errors) == (
        70,
        b"midwatch: the network proxy is gone; nothing was started\n",
    )
    assert not (lab.folder / "tree" / "begun").exists()


async def test_walls_that_cannot_be_built_are_told(lab: Lab) -> None:
    """The far side ends without a word, or never comes."""
    async with waiting_at(control_of(lab)) as doors:
        with socket.socket(socket.AF_UNIX) as other:
            folder = os.open(control_of(lab).parent, os.O_PATH)
            other.connect(f"/proc/self/fd/{folder}/control")
            os.close(folder)
        with pytest.raises(Broken, match="ended before"):
            await doors.listeners(PORTS)
    with socket.socket(socket.AF_UNIX) as nobody_comes:
        nobody_comes.bind("\0midwatch-nobody-comes")
        nobody_comes.listen()
        nobody_comes.setblocking(False)
        with pytest.raises(Broken, match="never opened"):
            await Doors(nobody_comes).listeners(PORTS, patience=0.05)


def test_everything_inside_ends_when_the_starter_is_killed(lab: Lab) -> None:
    if not lab.ours:
        pytest.skip("the starter here is our own Python")
    command = lab.command(lab.walls(), ["sh", "-c", "setsid sleep 600 & echo ready; sleep 600"], Isolation.BUBBLEWRAP)
    starter = subprocess.Popen(
        [sys.executable, "-c", f"import subprocess; subprocess.run({command!r})"], stdout=subprocess.PIPE
    )
    assert starter.stdout is not None
    assert starter.stdout.readline() == b"ready\n"
    starter.send_signal(signal.SIGKILL)
    assert starter.stdout.read() == b""  # the end comes when the last of them has let go
    starter.stdout.close()
    starter.wait()
