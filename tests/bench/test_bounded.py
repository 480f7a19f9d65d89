"""A bench that hangs or breaks is reported with its last words, leaves nothing running, and the others go on."""

import asyncio
import signal
import sys
from collections.abc import Iterator

import psutil
import pytest

from bench.__main__ import main
from bench.bounded import Ended, bounded, end
from tests.patience import PATIENCE

WAITS = """
import asyncio
async def for_an_answer_that_never_comes():
    print("asked", flush=True)
    await asyncio.Event().wait()
asyncio.run(for_an_answer_that_never_comes())
"""
HOLDS_ON = """
import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], start_new_session=True)
print(child.pid, flush=True)
signal.pause()
"""
BENCHES = {
    "waits": WAITS,
    "breaks": "raise SystemExit('no such disk')",
    "misses": "print('MISS too slow')",
    "meets": "print('ok   fast')",
}


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Let an interrupt end what is started here, also where the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


async def test_what_hangs_or_breaks_is_reported_and_the_others_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    async def measured(name: str) -> Ended:
        return await bounded((sys.executable, "-c", BENCHES[name]), 0.5 if name == "waits" else PATIENCE)

    assert await main(list(BENCHES), measured) == 1
    printed = capsys.readouterr().out
    assert f"MISS {'waits':<44} not done after 0.5 s; its last words:\n" in printed
    assert f"MISS {'breaks':<44} ended with exit code 1; its last words:\n       no such disk\n" in printed
    assert printed.endswith("MISS too slow\nok   fast\n3 bars missed\n")


async def test_what_is_interrupted_says_where_it_was() -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", WAITS, stdout=pipe, stderr=pipe)
    assert process.stdout is not None
    assert process.stderr is not None
    await process.stdout.readline()
    await end(process, PATIENCE)
    assert b"for_an_answer_that_never_comes" in await process.stderr.read()


async def test_what_ignores_the_interrupt_is_ended_with_all_that_it_started() -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLDS_ON, stdout=pipe)
    assert process.stdout is not None
    child = psutil.Process(int(await process.stdout.readline()))
    await end(process, 0.1)
    assert process.returncode == -9
    await asyncio.to_thread(child.wait, PATIENCE)


async def test_every_bench_met_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    async def measured(name: str) -> Ended:
        return await bounded((sys.executable, "-c", BENCHES[name]), PATIENCE)

    assert await main(["meets"], measured) == 0
    assert capsys.readouterr().out == "ok   fast\nevery bar met\n"
