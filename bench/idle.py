"""What an idle server costs."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from bench.figure import Figure
from bench.server import running_server

SECONDS = 20


async def run() -> list[Figure]:
    """Processor time over a while, and memory at its end."""
    with TemporaryDirectory(dir="/tmp") as folder, running_server(Path(folder)) as server:
        process = psutil.Process(server.pid)
        await asyncio.sleep(3)
        before = process.cpu_times()
        await asyncio.sleep(SECONDS)
        after = process.cpu_times()
        memory = process.memory_info().rss / 2**20
    share = (after.user + after.system - before.user - before.system) / SECONDS * 100
    return [
        Figure("idle server, processor", f"{share:.2f} % of a core", f"{SECONDS} s", "< 1 %", share < 1),
        Figure("idle server, memory", f"{memory:.0f} MB", "resident", "< 200 MB", memory < 200),
    ]
