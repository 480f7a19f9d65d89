"""One bench in a process of its own, which is ended when it takes too long: what hangs may not stop the others."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import psutil

MOST_SECONDS = 600.0
"""The longest bench takes about a minute, several on a busy machine."""
GRACE_SECONDS = 10.0
LAST_LINES = 12


@dataclass(frozen=True)
class Ended:
    """What a bench printed, and why it failed, if it did."""

    said: tuple[str, ...]
    why: str = ""
    last_words: tuple[str, ...] = ()


async def bounded(argv: Sequence[str], most_seconds: float, grace_seconds: float = GRACE_SECONDS) -> Ended:
    """Run a program until it ends or its time is over.

    Its words go into files: the end of a pipe would wait for every process that it left behind.
    """
    with TemporaryFile() as out, TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            *argv, stdout=out, stderr=errors, cwd=Path(__file__).parents[1], start_new_session=True
        )
        why = ""
        try:
            async with asyncio.timeout(most_seconds):
                await process.wait()
        except TimeoutError:
            why = f"not done after {most_seconds:g} s"
        finally:
            await end(process, grace_seconds)
        if not why and process.returncode:
            why = f"ended with exit code {process.returncode}"
        said, complaints = _lines(out), _lines(errors)
    return Ended(said, why, (said + complaints)[-LAST_LINES:] if why else ())


async def end(process: asyncio.subprocess.Process, grace_seconds: float) -> None:
    """Interrupt it, so that it says where it was and ends what it started; then end by force what is left of it.

    The first interrupt cancels what asyncio waits for, the second what Python waits for outside of it.
    """
    if process.returncode is not None:
        return
    started = psutil.Process(process.pid).children(recursive=True)
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
        with suppress(ProcessLookupError):
            process.send_signal(number)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), grace_seconds)
            break
    for one in started:
        with suppress(psutil.NoSuchProcess):
            one.kill()


def _lines(file: IO[bytes]) -> tuple[str, ...]:
    file.seek(0)
    return tuple(file.read().decode(errors="replace").splitlines())


async def alone(name: str) -> Ended:
    """Measure one bench and nothing else."""
    return await bounded((sys.executable, "-m", "bench", "--here", name), MOST_SECONDS)
