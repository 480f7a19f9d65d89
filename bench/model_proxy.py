"""The model proxy: first byte through it beside straight to the provider, fifty streams at once, and its memory."""

import asyncio
import json
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil

from bench.figure import Figure, NotMeasured, median, p99
from midwatch.engine.clocks import SystemClock
from midwatch.gateway.metering import (
    ANTHROPIC,
    Grant,
    MemoryLedger,
    MeteredCall,
    ModelCredential,
    ModelProxy,
    PriceList,
    ProviderQuota,
    ProxyServices,
    Upstream,
)
from midwatch.gateway.vault import Vault
from midwatch.rules.budget.spending import Ceilings, Whose
from midwatch.terms.secrets import SecretReference

ASKS = 400
STREAMS = 50
PARTS = 200
BAR = 5.0
KEY = "sk-ant-api03-a-placeholder-inside"


def _event(kind: str, **more: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


def _parts() -> list[bytes]:
    usage = {"input_tokens": 100, "output_tokens": 1}
    delta = {"type": "text_delta", "text": "a few words of an answer, as they come "}
    return [
        _event("message_start", message={"model": "claude-sonnet-4-5", "usage": usage}),
        *(_event("content_block_delta", index=0, delta=delta) for _ in range(PARTS)),
        _event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 10 * PARTS}),
        _event("message_stop"),
    ]


async def _provide() -> None:
    """Answer each request with a stream, part by part, from a process of its own."""
    parts = _parts()

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r")[0]))
                kind = b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked"
                writer.write(b"HTTP/1.1 200 OK\r\n" + kind + b"\r\n\r\n")
                for part in parts:
                    writer.write(b"%x\r\n%s\r\n" % (len(part), part))
                    await writer.drain()
                    await asyncio.sleep(0)
                writer.write(b"0\r\n\r\n")
        except (OSError, asyncio.IncompleteReadError):
            writer.close()

    server = await asyncio.start_server(attend, "127.0.0.1", 0, backlog=500)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _serve(upstream_port: int) -> None:
    """Be the proxy, in a process of its own, until stdin ends; then tell how much was counted."""
    calls: list[MeteredCall] = []

    async def settled(call: MeteredCall) -> None:
        calls.append(call)

    async def burnt(reading: ProviderQuota) -> None: ...

    with tempfile.NamedTemporaryFile("w") as file:
        file.write("sk-ant-a-real-secret-of-the-house")
        file.flush()
        ledger = MemoryLedger()
        ledger.open("job", {Whose.JOB: "job"}, {Whose.JOB: Ceilings(usd_micros=10**12)})
        prices = PriceList()
        prices.prepare()
        vault = Vault({"model": SecretReference.read(f"file:{file.name}")})
        books = ProxyServices(ledger, vault, prices, SystemClock(), settled, burnt)
        far, models = ANTHROPIC.at(f"http://127.0.0.1:{upstream_port}"), frozenset({"claude-sonnet-4-5"})
        grant = Grant("job", 1, far, ModelCredential("model"), models, KEY)
        upstream = Upstream()
        proxy = ModelProxy(grant, books, upstream)
        listener = socket.create_server(("127.0.0.1", 0), backlog=500)
        serving = asyncio.create_task(proxy.serve(listener))
        print(listener.getsockname()[1], flush=True)
        await asyncio.to_thread(sys.stdin.read)
        await proxy.close()
        await serving
        await upstream.close()
    print(sum(call.usage.output == 10 * PARTS and not call.cut for call in calls), flush=True)


@asynccontextmanager
async def _process(*words: str) -> AsyncIterator[tuple[int, asyncio.subprocess.Process]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.model_proxy", *words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[1],
    )
    try:
        assert process.stdout is not None
        yield int(await process.stdout.readline()), process
    finally:
        process.kill()
        await process.wait()


async def _ask(port: int, size: int = 50_000) -> tuple[float, float]:
    """Ask once on a connection of its own; give the seconds to the first byte of the body, and to its end."""
    body = json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 4000, "stream": True, "system": "x" * size}).encode()
    head = f"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nx-api-key: {KEY}\r\nContent-Length: {len(body)}\r\n\r\n"
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head.encode() + body)
    if not (answer := await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200"):
        raise NotMeasured(f"{answer.decode()}{(await reader.read(2000)).decode(errors='replace')}")
    await reader.readuntil(b"message_start")
    first = time.perf_counter() - began
    await reader.readuntil(b"0\r\n\r\n")
    writer.transport.abort()
    return first, time.perf_counter() - began


async def run() -> list[Figure]:
    """Ask in turns, straight and through the proxy; then fifty at once."""
    async with _process("provider") as (far, _), _process("proxy", str(far)) as (near, process):
        proxy = psutil.Process(process.pid)
        for port in (far, near):
            await _ask(port)
        straight, through = [], []
        for _ in range(ASKS):
            straight.append((await _ask(far))[0] * 1000)
            through.append((await _ask(near))[0] * 1000)
        before, began = proxy.memory_info().rss / 1e6, time.perf_counter()
        alone = await asyncio.gather(*(_ask(far) for _ in range(STREAMS)))
        took_alone, began = time.perf_counter() - began, time.perf_counter()
        at_once = await asyncio.gather(*(_ask(near) for _ in range(STREAMS)))
        took = time.perf_counter() - began
        after = proxy.memory_info().rss / 1e6
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        counted = int(await process.stdout.readline())
    least = min(through) - min(straight)
    added, added_99 = median(through) - median(straight), p99(through) - p99(straight)
    events = STREAMS * (PARTS + 3)
    return [
        Figure(
            "model proxy, first byte, 50 kB request",
            f"+{added:.2f} ms p50, +{added_99:.2f} p99, least +{least:.2f}",
            f"{median(straight):.2f}/{p99(straight):.2f} ms straight = {median(through) / median(straight):.1f}x",
            f"< {BAR:.0f} ms added",
            added < BAR,
        ),
        Figure(
            f"model proxy, {STREAMS} streams at once",
            f"{took:.2f} s, {events / took:,.0f} events/s, first {max(one[0] for one in at_once) * 1000:.0f} ms",
            f"{took_alone:.2f} s straight, first {max(one[0] for one in alone) * 1000:.0f} ms",
            "every stream counted whole",
            counted == ASKS + STREAMS + 1,
        ),
        Figure(
            "model proxy, memory",
            f"{after:.0f} MB RSS, +{after - before:.1f} MB for {STREAMS} streams",
            f"{before:.0f} MB before",
            "< 150 MB",
            after < 150,
        ),
    ]


if __name__ == "__main__":
    # Both are processes of their own: whoever shared their loop would measure himself.
    asyncio.run(_serve(int(sys.argv[2])) if sys.argv[1] == "proxy" else _provide())
