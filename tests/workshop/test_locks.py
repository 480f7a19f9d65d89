"""Locks: one at a time, gone with their holder, and not kept by one that is frozen (X5)."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from midwatch.errors import Unavailable
from midwatch.workshop.upkeep.folders import locked

HOLDS = """
import asyncio, sys
from pathlib import Path
from midwatch.workshop.upkeep.folders import locked
async def main():
    async with locked(Path(sys.argv[1])):
        print("held", flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


@contextmanager
def somebody_holding(lock: Path) -> Iterator["subprocess.Popen[bytes]"]:
    argv = [sys.executable, "-c", HOLDS, str(lock)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env={"PYTHONPATH": os.pathsep.join(sys.path)}) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


async def test_a_lock_that_somebody_holds_is_waited_for(tmp_path: Path) -> None:
    with somebody_holding(tmp_path / "lock"), pytest.raises(Unavailable, match="has been locked"):
        async with locked(tmp_path / "lock", patience_seconds=0.3):
            raise AssertionError


async def test_a_lock_goes_with_its_holder(tmp_path: Path) -> None:
    with somebody_holding(tmp_path / "lock") as holder:
        holder.kill()
        async with locked(tmp_path / "lock", patience_seconds=30):
            pass


async def test_a_frozen_holder_keeps_nobody_waiting(tmp_path: Path) -> None:
    with somebody_holding(tmp_path / "lock") as holder:
        holder.send_signal(signal.SIGSTOP)
        while Path(f"/proc/{holder.pid}/stat").read_text().split(") ")[1][0] != "T":  # noqa: ASYNC110, ASYNC240
            await asyncio.sleep(0.01)
        async with locked(tmp_path / "lock", patience_seconds=30):
            with pytest.raises(Unavailable):
                async with locked(tmp_path / "lock", patience_seconds=0.2):
                    raise AssertionError


async def test_of_several_who_find_a_frozen_holder_one_has_the_lock_at_a_time(tmp_path: Path) -> None:
    inside = most = 0

    async def enter() -> None:
        nonlocal inside, most
        async with locked(tmp_path / "lock", patience_seconds=30):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.01)
            inside -= 1

    with somebody_holding(tmp_path / "lock") as holder:
        holder.send_signal(signal.SIGSTOP)
        async with asyncio.TaskGroup() as group:
            for _ in range(8):
                group.create_task(enter())
    assert most == 1
