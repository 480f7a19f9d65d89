"""The event stream: cost of a delivery beside a bare Starlette stream of the same bytes; entry to viewer."""

import asyncio
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from bench.figure import Figure, median, p99
from midwatch.compose.house import Parts
from midwatch.compose.opening import open_house
from midwatch.engine.clocks import SystemClock
from midwatch.engine.inline import InlineEngine
from midwatch.evening import accounts
from midwatch.journal.entry import Entry
from midwatch.journal.events.session import MessageSaid
from midwatch.surfaces.web.site.app import Site
from midwatch.surfaces.web.stream.reader import as_json, message
from midwatch.terms.people import Role, Scope
from midwatch.views.entries.sse import streamed
from midwatch.views.text.names import Names
from tests.surfaces.viewers import Viewer, served_by, viewing

CROWD = 500
ROUNDS = 5
EACH = 20
CROWD_HZ = 10.0
FEW, FEW_ENTRIES, FEW_HZ = 20, 200, 20.0


async def run() -> list[Figure]:
    """Serve both, and let each talk in turn."""
    async with _server("ours") as ours, _server("bare") as bare:
        figures = [await _cost(ours, bare)]
    async with _server("ours") as fresh:
        figures.append(await _latency(fresh))
    return figures


class Child:
    """A server in a process of its own that talks when told to."""

    def __init__(self, process: asyncio.subprocess.Process, port: int, token: str) -> None:
        self.port = port
        self.token = token
        self._process = process
        self._seen = psutil.Process(process.pid)

    def cpu(self) -> float:
        """Give the seconds of processor time used so far."""
        used = self._seen.cpu_times()
        return used.user + used.system

    async def talk(self, count: int, hz: float) -> None:
        """Let it record, and wait until it has."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{count} {hz}\n".encode())
        await self._process.stdout.readline()


@asynccontextmanager
async def _server(which: str) -> AsyncIterator[Child]:
    pipe = asyncio.subprocess.PIPE
    command = (sys.executable, "-m", "bench.viewers", which)
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        port, token = (await process.stdout.readline()).decode().split()
        yield Child(process, int(port), token)
    finally:
        process.stdin.close()  # its sign to leave
        await process.wait()


async def _crowd(stack: AsyncExitStack, child: Child, count: int) -> list[Viewer]:
    crowd = [
        await stack.enter_async_context(viewing(child.port, token=child.token, greeted=False)) for _ in range(count)
    ]
    for one in crowd:
        await one.until(lambda viewer: viewer.told)
    return crowd


def _has(entries: int) -> Callable[[Viewer], bool]:
    return lambda viewer: len(viewer.told) > entries  # one more: the greeting


def _whole(seqs: list[int]) -> bool:
    return seqs == list(range(seqs[0], seqs[0] + ROUNDS * EACH))


async def _cost(ours: Child, bare: Child) -> Figure:
    async with AsyncExitStack() as stack:
        told = {child: await _crowd(stack, child, CROWD) for child in (ours, bare)}
        used: dict[Child, list[float]] = {ours: [], bare: []}
        for turn in range(1, ROUNDS + 1):
            for child, crowd in told.items():
                before = child.cpu()
                await child.talk(EACH, CROWD_HZ)
                for one in crowd:
                    await one.until(_has(turn * EACH))
                used[child].append((child.cpu() - before) / EACH / CROWD)
        whole = all(_whole(one.seqs) for crowd in told.values() for one in crowd)
    ratio = median(used[ours]) / median(used[bare])
    return Figure(
        f"a delivery, {CROWD} viewers" + ("" if whole else ", SOME LOST"),
        f"{median(used[ours]) * 1e6:.0f} µs = {ratio:.2f} times",
        f"{median(used[bare]) * 1e6:.0f} µs bare Starlette",
        "≤ 1.5 times, none lost",
        ratio <= 1.5 and whole,
    )


async def _latency(server: Child) -> Figure:
    async with AsyncExitStack() as stack:
        few = await _crowd(stack, server, FEW)
        await server.talk(FEW_ENTRIES, FEW_HZ)
        for one in few:
            await one.until(_has(FEW_ENTRIES))
        late = [
            (told.at - datetime.fromisoformat(told.json["at"]).timestamp()) * 1e3
            for one in few
            for told in one.told
            if told.json["type"] == "entry"
        ]
    return Figure(
        "entry to viewer",
        f"p99 {p99(late):.0f} ms, p50 {median(late):.0f}",
        f"{FEW} viewers, {FEW_HZ:.0f} entries/s",
        "p99 < 250 ms",
        p99(late) < 250,
    )


# What the children do.


def _said(name: str) -> MessageSaid:
    return MessageSaid(message=name, session="", by="ann", text="words " * 20)


async def _orders() -> AsyncIterator[tuple[int, float]]:
    """Read what to do from the parent, line by line, until it hangs up."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        count, hz = line.split()
        yield int(count), float(hz)
        print("done", flush=True)


async def _paced(count: int, hz: float) -> AsyncIterator[None]:
    began = time.monotonic()
    for number in range(count):
        await asyncio.sleep(max(0.0, began + number / hz - time.monotonic()))
        yield


async def _ours() -> None:
    """Serve the whole site and record for real: writing and encoding an entry are part of its deliveries."""
    parts = Parts(clock=SystemClock(), engine=InlineEngine())
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    with TemporaryDirectory() as folder:
        async with open_house(Path(folder) / "h", parts=parts) as house:
            site = Site(house, port=listening.getsockname()[1])
            link = await accounts.invite(house.entrance, Role.VIEWER, by="ann")
            await accounts.accept(house.entrance, link, "bob", "a long enough pass phrase")
            reads = frozenset({Scope.READ})
            _, token = await accounts.issue_token(house.entrance, "bench", reads, person="bob", by="ann")
            async with served_by(site.guarded, listening, site.feed):
                print(site.port, token, flush=True)
                async for count, hz in _orders():
                    async for _ in _paced(count, hz):
                        await house.journal.record(_said(house.ids.new("msg")))


async def _bare() -> None:
    """Fan the same bytes out, and do nothing else."""
    queues: set[asyncio.Queue[bytes]] = set()

    async def told(queue: asyncio.Queue[bytes]) -> AsyncIterator[bytes]:
        yield message(data='{"type":"connected"}')
        while True:
            yield await queue.get()

    async def events(_: Request) -> StreamingResponse:
        queue: asyncio.Queue[bytes] = asyncio.Queue(256)
        queues.add(queue)
        return StreamingResponse(told(queue), media_type="text/event-stream")

    config = uvicorn.Config(
        Starlette(routes=[Route("/events", events)]), port=0, http="h11", log_level="warning", lifespan="off"
    )
    server = uvicorn.Server(config)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110  uvicorn has no event for it
            await asyncio.sleep(0.01)
        print(server.servers[0].sockets[0].getsockname()[1], "none", flush=True)
        seq = 0
        async for count, hz in _orders():
            async for _ in _paced(count, hz):
                seq += 1
                now = datetime.now(UTC)
                entry = Entry(seq=seq, at=now, actor="midwatch", key="", because=(), event=_said("msg"))
                chunk = message(seq=seq, data=as_json(streamed(entry, Names())))
                for queue in queues:
                    queue.put_nowait(chunk)
        server.force_exit = server.should_exit = True
        serving.cancel()


if __name__ == "__main__":
    asyncio.run({"ours": _ours, "bare": _bare}[sys.argv[1]]())
