"""Other processes, real ones: forked from a server without threads, killed without a word, awaited by condition."""

import asyncio
import multiprocessing
import os
import runpy
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE

CONTEXT = multiprocessing.get_context("forkserver")
# Imported once, in the server every child is forked from: a child then costs milliseconds, not a second.
CONTEXT.set_forkserver_preload(["tests.store.preloaded"])


def start(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    """Start a child that dies with us."""
    child = CONTEXT.Process(target=target, args=arguments, daemon=True)
    child.start()
    return child


def finish(child: BaseProcess) -> int | None:
    """Wait for a child's end and tell its exit code; negative is the signal that ended it."""
    child.join(PATIENCE)
    if child.exitcode is None:
        child.kill()
        raise AssertionError("the child never ended")
    return child.exitcode


def run(target: Callable[..., None], *arguments: Any) -> int | None:
    """Run a child to its end."""
    return finish(start(target, *arguments))


def run_module(name: str, *words: str) -> tuple[int, str]:
    """Run `python -m name words`, forked instead of started; gives its exit code and the end of what it printed."""
    with tempfile.TemporaryDirectory(prefix="mw") as place:
        said, code = Path(place, "said"), Path(place, "code")
        ended = run(_module, name, words, dict(os.environ), said, code)
        assert ended is not None
        # A busy fork server may lose how a child ended; one that was killed has written no code.
        return int(code.read_text()) if code.exists() else min(ended, -signal.SIGKILL), said.read_text()[-2000:]


def _module(name: str, words: tuple[str, ...], environment: dict[str, str], said: Path, code: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    with said.open("w") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    sys.argv = [name, *words]
    ended = 1
    try:
        runpy.run_module(name, run_name="__main__")
        ended = 0
    finally:
        code.write_text(str(ended))


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """Look until the condition holds, and return what it gave."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.02)
    return found


async def until(condition: Callable[[], Awaitable[Any]], what: str) -> Any:
    """Look until the condition holds, and return what it gave, while the loop goes on."""
    deadline = time.monotonic() + PATIENCE
    while not (found := await condition()):
        assert time.monotonic() < deadline, f"never happened: {what}"
        await asyncio.sleep(0.02)
    return found
