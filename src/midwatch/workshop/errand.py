"""Runs one command on the leash and follows it, for agents and checks alike."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from midwatch.terms.term import Term
from midwatch.workshop import leash

LOG_LIMIT = 8 * 1024**2
TAIL_BYTES = 8_000
LONGEST_LINE = 1 << 20


class Ended(Term):
    """How a command ended: the leash's exit code, how long it took, and its last words."""

    exit_code: int
    seconds: float
    stopped: bool
    """We stopped it on request; limits have their own exit codes (124 wall, 125 idle)."""
    tail: str


async def run_leashed(  # noqa: PLR0913 - each is one plain fact about one process
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    log: Path,
    wall: timedelta,
    idle: timedelta,
    stop: asyncio.Event | None = None,
    on_line: Callable[[str], Awaitable[None]] | None = None,
) -> Ended:
    """Run a command until it ends, a limit passes, `stop` is set or we are cancelled; nothing of it stays behind."""
    begun_at = time.monotonic()
    before = await asyncio.to_thread(_prepare_log, log)
    process = await asyncio.create_subprocess_exec(
        *_leash_command(argv, log, wall, idle),
        cwd=cwd,
        env=dict(env),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        await _follow(process, stop, on_line)
    finally:
        await _see_out(process)
    code = process.returncode if process.returncode is not None else leash.STOPPED
    return Ended(
        exit_code=code,
        seconds=round(time.monotonic() - begun_at, 3),
        stopped=code == leash.STOPPED and stop is not None and stop.is_set(),
        tail=await asyncio.to_thread(_tail, log, before),
    )


def _leash_command(argv: Sequence[str], log: Path, wall: timedelta, idle: timedelta) -> list[str]:
    # By path and isolated: the leash needs nothing of ours, and starts without reading the site's packages.
    limits = ["--wall", str(wall.total_seconds()), "--idle", str(idle.total_seconds())]
    record = ["--log", str(log), "--log-limit", str(LOG_LIMIT)]
    return [sys.executable, "-I", "-S", str(leash.__file__), *limits, *record, "--", *argv]


def _prepare_log(log: Path) -> int:
    log.parent.mkdir(parents=True, exist_ok=True)
    return log.stat().st_size if log.exists() else 0


def _tail(log: Path, before: int) -> str:
    with log.open("rb") as file:
        end = file.seek(0, 2)
        file.seek(max(before, end - TAIL_BYTES))
        return file.read().decode(errors="replace")


async def _follow(
    process: asyncio.subprocess.Process,
    stop: asyncio.Event | None,
    on_line: Callable[[str], Awaitable[None]] | None,
) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(_let_go_when(stop, process))
            async for line in _lines(process):
                if on_line is not None:
                    await on_line(line)
            await process.wait()
            watch.cancel()
    except BaseExceptionGroup as several:
        # Only the listener can fail here, and its error is worth more than the group around it.
        raise several.exceptions[0] from None


async def _let_go_when(stop: asyncio.Event | None, process: asyncio.subprocess.Process) -> None:
    if stop is not None:
        await stop.wait()
        _let_go(process)


async def _lines(process: asyncio.subprocess.Process) -> AsyncIterator[str]:
    assert process.stdout is not None  # noqa: S101 - for the type checker
    rest = b""
    while chunk := await process.stdout.read(1 << 16):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace")
        if len(rest) > LONGEST_LINE:
            yield rest.decode(errors="replace")
            rest = b""
    if rest:
        yield rest.decode(errors="replace")


def _let_go(process: asyncio.subprocess.Process) -> None:
    """Close the leash's stdin, which tells it to take everything down."""
    if process.stdin is not None:
        process.stdin.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    # Whatever it still says is in the log; a full pipe would only make the leash wait for us.
    assert process.stdout is not None  # noqa: S101 - for the type checker
    while await process.stdout.read(1 << 16):
        pass
    await process.wait()


async def _see_out(process: asyncio.subprocess.Process) -> None:
    """Wait until the leash has cleared up, even while being cancelled again: asyncio would kill it half-way."""
    if process.returncode is not None:
        return
    _let_go(process)
    ending = asyncio.ensure_future(_end(process))
    cancelled = False
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
