"""Doors to models as a server has them, ledger and journal on disk: first byte, and what eight open streams cost."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from bench.figure import Figure, NotMeasured, median, p99
from midwatch.terms.agents import Tokens
from midwatch.terms.orders import Limits
from tests.agents.model import Say, scripted_model
from tests.gateway.metering.night import JOBS, Elsewhere, spending_night

ASKS = 100
KILOBYTES = 200
"""Of a request: the size of an agent's after a while."""
HELD = 2_000
"""So much of an answer is out when its stream is held open."""
BAR_MS = 20.0
BAR_MB = 5.0


async def _provide() -> None:
    """Be the scripted model, in a process of its own."""
    async with scripted_model() as model:
        for job in JOBS:
            short = Say("Soon.", usage=Tokens(input=100, output=20))
            model.play(job, short, Say("A long answer. " * 2_000, hold=HELD), final=short, every=True)
        print(model.url.rpartition(":")[2], flush=True)
        await asyncio.to_thread(sys.stdin.read)


async def _serve(at: Elsewhere) -> None:
    """Be the server, in a process of its own, until stdin ends."""
    with TemporaryDirectory(dir="/tmp") as folder:
        url = f"sqlite:///{folder}/midwatch.db"
        async with spending_night(url, Path(folder), Limits(usd=100_000), at=at) as night:
            print(json.dumps(night.doors), flush=True)
            await asyncio.to_thread(sys.stdin.read)


@asynccontextmanager
async def _process(*words: str) -> AsyncIterator[tuple[str, int]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.model_doors", *words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[1],
        limit=2**20,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode(), process.pid
    finally:
        process.stdin.close()
        await process.wait()


@asynccontextmanager
async def serving(at: Elsewhere) -> AsyncIterator[tuple[dict[str, tuple[str, str]], int]]:
    """Give the doors of eight jobs, each an address and what to present there, and the server's process."""
    async with _process("serve", str(at.port), at.provider, at.model) as (said, pid):
        yield {job: (url, key) for job, (url, key) in json.loads(said).items()}, pid


async def _ask(url: str, key: str, until: bytes) -> tuple[float, asyncio.StreamWriter]:
    """Ask once on a connection of its own; give the milliseconds to the first byte of the body, and the open stream."""
    given = {"model": "claude-sonnet-4-5", "max_tokens": 4000, "stream": True, "system": "x" * 1000 * KILOBYTES}
    body = json.dumps(given).encode()
    place = url.removeprefix("http://")
    host, _, path = place.partition("/")
    target = f"/{path}/v1/messages" if path else "/v1/messages"
    head = f"POST {target} HTTP/1.1\r\nHost: {host}\r\nx-api-key: {key}\r\nContent-Length: {len(body)}\r\n\r\n"
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", int(host.rpartition(":")[2]))
    writer.write(head.encode() + body)
    if not (answer := await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200"):
        raise NotMeasured(f"{answer.decode()}{(await reader.read(2000)).decode(errors='replace')}")
    await reader.readuntil(b"message_start")
    first = (time.perf_counter() - began) * 1000
    await reader.readuntil(until)
    return first, writer


async def run() -> list[Figure]:
    """Hold a stream open for each of several jobs; then ask in turns, straight and through a door."""
    async with _process("model") as (port, _), serving(Elsewhere(int(port))) as (doors, pid):
        for job in JOBS:
            await _once(*doors[job])
        server = psutil.Process(pid)
        before = server.memory_info().rss / 1e6
        held = [(await _ask(*doors[job], b"long answer"))[1] for job in JOBS]
        after = server.memory_info().rss / 1e6
        for writer in held:
            writer.transport.abort()
        straight, through = [], []
        for _ in range(ASKS):
            straight.append(await _once(f"http://127.0.0.1:{int(port)}/s/{JOBS[0]}", ""))
            through.append(await _once(*doors[JOBS[0]]))
    return _figures(straight, through, before, after)


async def _once(url: str, key: str) -> float:
    first, writer = await _ask(url, key, b"0\r\n\r\n")  # which comes when the request is booked
    writer.transport.abort()
    return first


def _figures(straight: list[float], through: list[float], before: float, after: float) -> list[Figure]:
    added, added_99 = median(through) - median(straight), p99(through) - p99(straight)
    each = (after - before) / len(JOBS)
    return [
        Figure(
            f"door to a model, first byte, {KILOBYTES} kB request",
            f"+{added:.2f} ms p50, +{added_99:.2f} p99",
            f"{median(straight):.2f}/{p99(straight):.2f} ms straight = {median(through) / median(straight):.1f}x",
            f"< {BAR_MS:.0f} ms added, ledger on disk",
            added < BAR_MS,
        ),
        Figure(
            f"doors to models, memory of {len(JOBS)} open streams",
            f"+{each:.2f} MB RSS per job",
            f"{before:.0f} MB before, {after:.0f} MB with them",
            f"< {BAR_MB:.0f} MB per job",
            each < BAR_MB,
        ),
    ]


if __name__ == "__main__":
    # Both are processes of their own: whoever shared their loop would measure himself.
    asyncio.run(_provide() if sys.argv[1] == "model" else _serve(Elsewhere(int(sys.argv[2]), *sys.argv[3:])))
