"""Runs one short command under `process_limits.py` and writes its log."""

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from midwatch.ports.redaction import NewScrub
from midwatch.terms.term import Term
from midwatch.workshop.rooms.logs import CappedLog, Untouched
from midwatch.workshop.sandbox import process_limits


class CommandEnd(Term):
    """How a command ended: the exit code, how long it took, and its last output."""

    exit_code: int
    seconds: float
    stopped: bool
    """Midwatch stopped it on request; limits have their own exit codes (124 wall, 125 idle)."""
    tail: str
    wrote_too_much: str = ""
    """Why it was stopped, where it wrote more than it may."""
    output: str = ""
    """A bounded piece of each end of its output, of a command that failed."""


async def run_limited(  # noqa: PLR0913 - each is one plain fact about one process
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    log: Path,
    wall: timedelta,
    idle: timedelta,
    stop: asyncio.Event | None = None,
    scrub: NewScrub = Untouched,
) -> CommandEnd:
    """Run a command until it ends, a limit passes, `stop` is set or we are cancelled; none of its processes stays."""
    begun_at = time.monotonic()
    written = await asyncio.to_thread(CappedLog, log, scrub=scrub)
    process = await asyncio.create_subprocess_exec(
        *_limited_command(argv, wall, idle),
        cwd=cwd,
        env=dict(env),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        umask=0o022,  # a project's own tests look at the modes of what they make
        start_new_session=True,
    )
    try:
        await _follow(process, stop, written)
    finally:
        try:
            await _see_out(process, written)
        finally:
            written.close()
    code = process.returncode if process.returncode is not None else process_limits.STOPPED
    return CommandEnd(
        exit_code=code,
        seconds=round(time.monotonic() - begun_at, 3),
        stopped=code == process_limits.STOPPED and stop is not None and stop.is_set(),
        tail=await asyncio.to_thread(written.tail),
        output=await asyncio.to_thread(written.two_ends) if code else "",
    )


def _limited_command(argv: Sequence[str], wall: timedelta, idle: timedelta) -> list[str]:
    # By path and isolated: the program imports nothing of Midwatch, and starts without reading the site's packages.
    limits = ["--wall", str(wall.total_seconds()), "--idle", str(idle.total_seconds())]
    return [sys.executable, "-I", "-S", str(process_limits.__file__), *limits, "--", *argv]


async def _follow(process: asyncio.subprocess.Process, stop: asyncio.Event | None, log: CappedLog) -> None:
    async with asyncio.TaskGroup() as group:
        watch = group.create_task(_let_go_when(stop, process))
        await _take_down_words(process, log)
        await process.wait()
        watch.cancel()


async def _take_down_words(process: asyncio.subprocess.Process, log: CappedLog) -> None:
    assert process.stdout is not None  # noqa: S101 - for the type checker
    while chunk := await process.stdout.read(1 << 16):
        await asyncio.to_thread(log.add, chunk)  # searching for secrets takes a while, and other work continues


async def _let_go_when(stop: asyncio.Event | None, process: asyncio.subprocess.Process) -> None:
    if stop is not None:
        await stop.wait()
        _let_go(process)


def _let_go(process: asyncio.subprocess.Process) -> None:
    """Close the process's stdin, which makes it end everything."""
    if process.stdin is not None:
        process.stdin.close()


async def _end(process: asyncio.subprocess.Process, log: CappedLog) -> None:
    await _take_down_words(process, log)
    await process.wait()


async def _see_out(process: asyncio.subprocess.Process, log: CappedLog) -> None:
    """Wait until the process has cleaned up, even while being cancelled again: asyncio would kill it half-way."""
    if process.returncode is not None:
        return
    _let_go(process)
    ending = asyncio.ensure_future(_end(process, log))
    cancelled = False
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
