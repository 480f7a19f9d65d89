"""The leash: whatever a command does, nothing of it stays behind, and its exit code tells what happened."""

import asyncio
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

import midwatch
from midwatch.workshop.rooms.logs import LOG_LIMIT, Untouched
from midwatch.workshop.sandbox import process_limits
from midwatch.workshop.sandbox.short_command import CommandEnd, run_limited
from tests.patience import PATIENCE

LONG = timedelta(minutes=2)
IGNORES_TERM = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True)\n"
FOREVER = IGNORES_TERM + "time.sleep(600)"
DOUBLE_FORK = """
import os, time
told, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("away", os.getpid(), flush=True)
    os.write(tell, b"!")
    time.sleep(600)
os.read(told, 1)
"""


def marked(marker: str) -> list[int]:
    """Find every living process that was started with this marker in its environment."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and marker.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@pytest.fixture
def marker(tmp_path: Path) -> str:
    return f"leash-test-{os.getpid()}-{tmp_path.name}"


class Heard:
    """Notes what is said, and wakes whoever waits for the first word; takes nothing out."""

    def __init__(self) -> None:
        self.said = b""
        self.first = threading.Event()

    def feed(self, chunk: bytes) -> bytes:
        self.said += chunk
        self.first.set()
        return chunk

    def end(self) -> bytes:
        return b""

    async def until_it_speaks(self) -> None:
        assert await asyncio.to_thread(self.first.wait, 60)


async def go(  # noqa: PLR0913
    code: str,
    folder: Path,
    marker: str,
    *,
    wall: timedelta = LONG,
    idle: timedelta = LONG,
    stop: asyncio.Event | None = None,
    heard: Heard | None = None,
) -> CommandEnd:
    return await run_limited(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "MARKER": marker},
        log=folder / "logs" / "it.log",
        wall=wall,
        idle=idle,
        stop=stop,
        scrub=(lambda: heard) if heard else Untouched,
    )


async def test_a_command_that_ends_keeps_its_exit_code_and_its_log_in_order(tmp_path: Path, marker: str) -> None:
    code = "import sys; print('one'); print('two', flush=True); print('err', file=sys.stderr); sys.exit(7)"
    ended = await go(code, tmp_path, marker)
    assert (ended.exit_code, ended.stopped) == (7, False)
    assert (tmp_path / "logs" / "it.log").read_text() == "one\ntwo\nerr\n"
    assert ended.tail == "one\ntwo\nerr\n"


async def test_a_command_killed_by_a_signal_never_looks_successful(tmp_path: Path, marker: str) -> None:
    ended = await go("import os; os.kill(os.getpid(), 9)", tmp_path, marker)
    assert ended.exit_code == 128 + signal.SIGKILL


async def test_a_missing_command_is_reported_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "it.log"
    ended = await run_limited(["/no/such/thing"], cwd=tmp_path, env={}, log=log, wall=LONG, idle=LONG)
    assert ended.exit_code == 127
    assert "cannot start /no/such/thing" in log.read_text()


async def test_a_child_that_ignores_term_is_killed_when_the_wall_limit_passes(tmp_path: Path, marker: str) -> None:
    ended = await go(FOREVER, tmp_path, marker, wall=timedelta(seconds=1))
    assert ended.exit_code == process_limits.WALL
    assert marked(marker) == []


async def test_a_command_that_never_speaks_meets_the_idle_limit(tmp_path: Path, marker: str) -> None:
    ended = await go("import time; time.sleep(600)", tmp_path, marker, idle=timedelta(seconds=0.5))
    assert ended.exit_code == process_limits.IDLE
    assert marked(marker) == []


async def test_a_command_that_keeps_speaking_does_not_meet_the_idle_limit(tmp_path: Path, marker: str) -> None:
    code = "import time\nfor n in range(8):\n    print(n, flush=True); time.sleep(.25)"
    ended = await go(code, tmp_path, marker, idle=timedelta(seconds=1.5))
    assert ended.exit_code == 0


async def test_a_process_that_forked_away_into_its_own_session_dies_too(tmp_path: Path, marker: str) -> None:
    ended = await go(DOUBLE_FORK, tmp_path, marker)
    assert ended.exit_code == 0, "the command itself ended well"
    assert ended.tail.startswith("away")
    assert marked(marker) == []


async def test_a_crowd_that_keeps_forking_is_taken_down(tmp_path: Path, marker: str) -> None:
    crowd = f"""
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(5):
    subprocess.Popen([sys.executable, "-c", {FOREVER!r}], start_new_session=True)
print("started", flush=True)
while True:
    if os.fork() == 0:
        os.setsid(); time.sleep(.05)
        if os.fork(): os._exit(0)
        time.sleep(.3); os._exit(0)
    time.sleep(.02)
"""
    stop, heard = asyncio.Event(), Heard()
    async with asyncio.TaskGroup() as group:
        going = group.create_task(go(crowd, tmp_path, marker, stop=stop, heard=heard))
        await heard.until_it_speaks()
        stop.set()
    ended = going.result()
    assert (ended.exit_code, ended.stopped) == (process_limits.STOPPED, True)
    assert marked(marker) == []


async def test_fifty_megabytes_leave_head_tail_and_a_line_saying_what_is_missing(tmp_path: Path, marker: str) -> None:
    code = (
        "import sys; sys.stdout.write('FIRST\\n')\n"
        "for n in range(50): sys.stdout.write(('x' * 1023 + '\\n') * 1024)\nprint('LAST')"
    )
    ended = await go(code, tmp_path, marker)
    log = (tmp_path / "logs" / "it.log").read_bytes()
    assert ended.exit_code == 0
    assert log.startswith(b"FIRST\n")
    assert log.endswith(b"LAST\n")
    left_out = 50 * 1024**2 + len(b"FIRST\nLAST\n") - LOG_LIMIT
    assert f"[midwatch: {left_out} bytes left out here]".encode() in log
    assert ended.tail.endswith("LAST\n")


async def test_cancelling_the_waiting_task_takes_the_tree_down(tmp_path: Path, marker: str) -> None:
    heard = Heard()
    task = asyncio.create_task(go(DOUBLE_FORK + FOREVER, tmp_path, marker, heard=heard))
    await heard.until_it_speaks()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # an impatient second time must not leave anything behind either
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked(marker) == []


@pytest.mark.crash
def test_when_the_starter_is_killed_nothing_of_the_command_is_left(tmp_path: Path, marker: str) -> None:
    starter = tmp_path / "starter.py"
    starter.write_text(
        "import asyncio, sys\nfrom datetime import timedelta\nfrom pathlib import Path\n"
        "from midwatch.workshop.sandbox.short_command import run_limited\n"
        "class Say:\n"
        "    def feed(self, chunk):\n        print(chunk.decode(), flush=True)\n        return chunk\n"
        "    def end(self): return b''\n"
        "hour = timedelta(hours=1)\n"
        "asyncio.run(run_limited([sys.executable, '-c', sys.argv[2]], cwd=Path('/'), env={'MARKER': sys.argv[1]},\n"
        "            log=Path(sys.argv[3]), wall=hour, idle=hour, scrub=Say))\n"
    )
    starting = [
        sys.executable,
        str(starter),
        marker,
        DOUBLE_FORK.replace("os.read(told, 1)", "os.read(told, 1)\n" + FOREVER),
        str(tmp_path / "log"),
    ]
    process = subprocess.Popen(starting, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline()
        alive = [pid for pid in marked(marker) if pid != process.pid]
        assert len(alive) >= 3, "the leash, the command and the one that forked away"
        process.kill()
        process.wait()
    deadline = time.monotonic() + PATIENCE
    while marked(marker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked(marker) == []


def test_sigterm_to_the_leash_stops_the_command(marker: str) -> None:
    command = [sys.executable, "-m", "midwatch.workshop.sandbox.process_limits", "--wall", "600", "--idle", "600"]
    command += ["--", sys.executable, "-c", FOREVER]
    env = {"MARKER": marker, "PYTHONPATH": str(Path(midwatch.__file__).parents[1])}
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.wait() == process_limits.STOPPED, shlex.join(command)
    assert marked(marker) == []
