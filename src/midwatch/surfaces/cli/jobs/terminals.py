"""A person's terminal on a held shell: raw keys in, raw output back, and Ctrl-] to leave it running."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from typing import Any

import typer

from midwatch.compose import shells
from midwatch.compose.house import House
from midwatch.compose.shells import Ending, HeldProgram
from midwatch.errors import MidwatchError, Misuse, Refused
from midwatch.surfaces.cli.shell import client
from midwatch.terms.jobs import JobState
from midwatch.views.pages.walls import WALLS

LEAVE = b"\x1d"
"""Ctrl-], as in telnet: no widely used program needs it."""
KEYS = 4096


def attach_living(row: dict[str, Any]) -> bool:
    """Attach to a job's open shell; return whether there was one."""
    return asyncio.run(_attach_living(row))


async def _attach_living(row: dict[str, Any]) -> bool:
    held = await shells.living(client.home(), row["id"])
    if held is None and row["by_hand"] and row["stage"] == "execute":
        held = await shells.interactive_program(client.home(), row["id"], row["epoch"])
    if held is not None:
        await _stay(held, row["number"])
    return held is not None


def sit(row: dict[str, Any]) -> bool:
    """Attach to the program a person types into; return whether it has ended, or False if none runs yet."""
    return asyncio.run(_sit(row))


async def _sit(row: dict[str, Any]) -> bool:
    held = await shells.interactive_program(client.home(), row["id"], row["epoch"])
    if held is None:
        return False
    with raw():
        ending = await bridge(held, sys.stdin.fileno(), sys.stdout.fileno())
    if ending is None:
        raise KeyboardInterrupt  # Ctrl-]: it continues without a terminal
    typer.echo(ending.sentence(), err=True)
    return True


def open_shell(row: dict[str, Any], argv: tuple[str, ...]) -> None:
    """Open a shell in a job's newest checkout, in the sandbox its agent had, and attach to it."""
    if not JobState(row["state"]).over:
        raise Refused(
            f"Job {row['number']} is {row['state']}: its agent is using the checkout.",
            hint=f"Watch it with midwatch job attach {row['number']}, or stop it first.",
        )
    if not sys.stdin.isatty():
        raise Misuse("A shell needs a terminal.", hint="Run it from one, without a pipe.")
    asyncio.run(_open_shell(row, argv))


async def _open_shell(row: dict[str, Any], argv: tuple[str, ...]) -> None:
    house = House(client.home())
    try:
        await house.reload_settings()
        columns, rows = shutil.get_terminal_size()
        visit = shells.Visit(
            job=row["id"],
            project=row["project"],
            setup_key=row["setup_key"],
            argv=argv or shells.usual(os.environ),
            rows=rows,
            columns=columns,
        )
        walls = WALLS[house.workshop.rooms.isolation]
        typer.echo(f"A shell in the checkout of job {row['number']}, {walls.mark} ({walls.kind}).", err=True)
        await _stay(await shells.enter(client.home(), house.workshop, visit), row["number"])
    finally:
        await house.dispose()


async def _stay(held: HeldProgram, number: int) -> None:
    """Stay until the shell ends or the person leaves."""
    with raw():
        # Printed only now: raw mode discards earlier input, and a raw screen needs its own carriage return.
        typer.echo("Leave it running with Ctrl-]; it ends by itself after an hour of silence.\r", err=True)
        ending = await bridge(held, sys.stdin.fileno(), sys.stdout.fileno())
    if ending is None:
        typer.echo(f"Left it running. Come back: midwatch job attach {number}", err=True)
    else:
        typer.echo(ending.sentence(), err=True)


@contextlib.contextmanager
def raw() -> Iterator[None]:
    """Put the terminal into raw mode, and restore it afterwards."""
    terminal = sys.stdin.fileno()
    if not os.isatty(terminal):
        raise Misuse("A shell needs a terminal.", hint="Run it from one, without a pipe.")
    before = termios.tcgetattr(terminal)
    try:
        tty.setraw(terminal)
        yield
    finally:
        # Unread input belongs to this shell, not to the one the person returns to.
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)


async def bridge(held: HeldProgram, keys: int, screen: int) -> Ending | None:
    """Copy keys in and output back; None when the person left and it continues."""
    loop, pressed, left = asyncio.get_running_loop(), asyncio.Queue[bytes](), asyncio.Event()

    def press() -> None:
        data = os.read(keys, KEYS)
        pressed.put_nowait(data.partition(LEAVE)[0])
        if not data or LEAVE in data:
            loop.remove_reader(keys)
            left.set()

    loop.add_reader(keys, press)
    with contextlib.suppress(ValueError, RuntimeError):  # beside a temporary server, signals belong to the server
        loop.add_signal_handler(signal.SIGWINCH, lambda: pressed.put_nowait(b""))
    pressed.put_nowait(b"")  # send the size of this screen first
    try:
        async with asyncio.TaskGroup() as group:
            showing = group.create_task(_show(held, screen))
            others = [group.create_task(_press(held, pressed)), group.create_task(left.wait())]
            await asyncio.wait((showing, others[1]), return_when=asyncio.FIRST_COMPLETED)
            over = showing.done()
            for task in (showing, *others):
                task.cancel()
        return await held.wait() if over else None
    finally:
        loop.remove_reader(keys)
        with contextlib.suppress(ValueError, RuntimeError):
            loop.remove_signal_handler(signal.SIGWINCH)


async def _show(held: HeldProgram, screen: int) -> None:
    async for piece in held.follow(await asyncio.to_thread(shells.since, held)):
        data = piece.data
        while data:
            data = data[os.write(screen, data) :]


async def _press(held: HeldProgram, pressed: "asyncio.Queue[bytes]") -> None:
    while True:
        data = await pressed.get()
        with contextlib.suppress(MidwatchError):  # it is ending; the reader of its output will notice
            if data:
                await held.say(data)
            else:
                columns, rows = os.get_terminal_size(sys.stdout.fileno())
                if columns and rows:  # a terminal that does not know its size reports none
                    await held.resize(rows, columns)
