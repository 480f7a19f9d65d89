"""What an idle server costs."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from bench.figure import Figure
from bench.server import running_server

SECONDS = 20
WAKES = 5


async def run() -> list[Figure]:
    """Processor time over a while, and memory at its end."""
    with TemporaryDirectory(dir="/tmp") as folder, running_server(Path(folder)) as server:
        process = psutil.Process(server.pid)
        await asyncio.sleep(3)
        before, slept = process.cpu_times(), _sleeps(server.pid)
        await asyncio.sleep(SECONDS)
        after, woken = process.cpu_times(), (_sleeps(server.pid) - slept) / SECONDS
        memory = process.memory_info().rss / 2**20
    share = (after.user + after.system - before.user - before.system) / SECONDS * 100
    return [
        Figure("idle server, processor", f"{share:.2f} % of a core", f"{SECONDS} s", "< 1 %", share < 1),
        Figure("idle server, wake-ups", f"{woken:.1f} a second", "all its threads", f"≤ {WAKES}", woken <= WAKES),
        Figure("idle server, memory", f"{memory:.0f} MB", "resident", "< 200 MB", memory < 200),
    ]


def _sleeps(pid: int) -> int:
    """How often its threads have gone to sleep of their own accord, and so been woken."""
    tasks = Path(f"/proc/{pid}/task").glob("*/status")
    return sum(
        int(line.split()[1]) for task in tasks for line in task.read_text().splitlines() if line.startswith("vol")
    )
