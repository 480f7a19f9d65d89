"""Viewers of the event stream over real sockets: hundreds fit into one process."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from midwatch.compose.house import House
from midwatch.journal.entry import Entry
from midwatch.journal.events.session import MessageSaid
from midwatch.surfaces.api.access import Caller, WithState
from midwatch.surfaces.web.stream.feed import Feed, Paint, router
from midwatch.terms.people import Role
from tests.patience import PATIENCE
from tests.surfaces.visitor import still_reads

HTMX = "text/html, text/event-stream"
"""What hx-sse 4.0.0 sends."""
PROGRAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Told:
    """One message of the stream, as it arrived."""

    id: str
    event: str
    data: str
    at: float

    @property
    def json(self) -> Any:
        return json.loads(self.data)


class Viewer(asyncio.Protocol):
    """Sends one request and takes the answer apart as it comes."""

    def __init__(self, path: str, headers: dict[str, str]) -> None:
        lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        self._request = ("\r\n".join(lines) + "\r\n\r\n").encode()
        self._raw = b""
        self._body = b""
        self._over = asyncio.Event()
        self._wake_up = asyncio.Event()
        self.head = ""
        self.told: list[Told] = []
        self.comments: list[str] = []
        self.finished = False
        """Whether the answer was brought to its proper end."""
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._raw += data
        if not self.head:
            head, found, rest = self._raw.partition(b"\r\n\r\n")
            if not found:
                return
            self.head, self._raw = head.decode().lower(), rest
        while self._chunk():
            pass
        *blocks, self._body = self._body.split(b"\n\n")
        for block in blocks:
            self._message(block.decode())
        self._wake_up.set()

    def _chunk(self) -> bool:
        begins = self._raw.find(b"\r\n") + 2
        length = int(self._raw[: begins - 2], 16) if begins > 1 else 0
        if begins < 2 or len(self._raw) < begins + length + 2:
            return False
        self._body += self._raw[begins : begins + length]
        self._raw = self._raw[begins + length + 2 :]
        self.finished |= length == 0
        return length > 0

    def _message(self, block: str) -> None:
        fields: dict[str, list[str]] = {}
        for line in block.split("\n"):
            name, _, value = line.partition(": ")
            fields.setdefault(name, []).append(value)
        self.comments += fields.get("", [])
        if fields.keys() - {""}:
            one = {name: "\n".join(values) for name, values in fields.items()}
            self.told.append(Told(one.get("id", ""), one.get("event", ""), one.get("data", ""), time.time()))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  the shape of a protocol
        self._over.set()
        self._wake_up.set()

    @property
    def seqs(self) -> list[int]:
        """The entries it was told of, in the order they came; a program's only."""
        return [one.json["seq"] for one in self.told if one.json["type"] not in {"connected", "ping"}]

    async def until(self, condition: Callable[["Viewer"], object]) -> None:
        """Wait for a condition on what has come."""
        while not condition(self):
            if self._over.is_set():
                raise AssertionError(f"the stream ended: {self.head} {str(self.told[-3:])[:500]}")
            self._wake_up.clear()
            await self._wake_up.wait()

    async def over(self) -> None:
        """Wait for the end of the stream."""
        await self.until(lambda one: one.finished)

    async def gone(self) -> None:
        """Hang up."""
        self.transport.close()
        await self._over.wait()


@asynccontextmanager
async def viewing(
    port: int, path: str = "/events", *, accept: str = PROGRAM, last: str = "", greeted: bool = True, token: str = ""
) -> AsyncIterator[Viewer]:
    """Look at the stream for a while."""
    loop = asyncio.get_running_loop()
    headers = {"Host": f"127.0.0.1:{port}", "Accept": accept}
    headers |= {"Last-Event-ID": last} if last else {}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    _, viewer = await loop.create_connection(lambda: Viewer(path, headers), "127.0.0.1", port)
    try:
        if greeted:
            await viewer.until(lambda one: one.told)
        yield viewer
    finally:
        await viewer.gone()


class LinePainter:
    """Paints each entry as one paragraph, and remembers what it was asked for."""

    def __init__(self, padding: int = 0) -> None:
        self.painted: list[tuple[int, ...]] = []
        self._padding = "." * padding

    async def paint(self, entries: Sequence[Entry]) -> str:
        self.painted.append(tuple(entry.seq for entry in entries))
        return "\n".join(f"<p>{entry.seq}</p>{self._padding}" for entry in entries)


class LetIn:
    """Stands where the door stands: everybody is a viewer."""

    def __init__(self, app: ASGIApp, role: Role = Role.VIEWER) -> None:
        self._app = app
        self._caller = Caller(name="ann", role=role, scopes=role.scopes, way="token")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {}).update(caller=self._caller, still=still_reads)
        await self._app(scope, receive, send)


class StreamServer(uvicorn.Server):
    """Leaves signals to the test."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@dataclass(frozen=True, slots=True)
class Served:
    """A server on loopback that has the stream and nothing else."""

    port: int
    house: House
    feed: Feed
    server: StreamServer
    painter: LinePainter
    serving: asyncio.Task[None]

    async def record(self, count: int, *, together: bool = False) -> int:
        """Let people say something; give the newest seq."""
        said = [
            MessageSaid(message=self.house.ids.new("msg"), session="", by="ann", text="words") for _ in range(count)
        ]
        if together:
            await self.house.journal.record(*said)
        else:
            for one in said:
                await self.house.journal.record(one)
        return await self.house.records.head()


@cache
def _application() -> FastAPI:
    app = FastAPI()
    app.include_router(router)
    return app


@asynccontextmanager
async def streaming(
    house: House, *, padding: int = 0, paint: Paint | None = None, **more: float
) -> AsyncIterator[Served]:
    """Serve the stream of a house, with uvicorn on loopback."""
    painter = LinePainter(padding)

    async def lines(batch: Sequence[Entry]) -> str:
        return await painter.paint(batch)  # looked up each time: a test replaces it

    feed = Feed(house, paint or lines, **more)
    app = WithState(_application(), house=house, feed=feed)
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    if padding:  # fat rows are for filling buffers: keep those small
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
    async with served_by(LetIn(app), listening, feed) as (server, serving):
        yield Served(listening.getsockname()[1], house, feed, server, painter, serving)


@asynccontextmanager
async def served_by(
    app: ASGIApp, listening: socket.socket, feed: Feed
) -> AsyncIterator[tuple[StreamServer, asyncio.Task[None]]]:
    """Run a server and a feed, and end both in the order the house does."""
    config = uvicorn.Config(
        app, http="h11", log_level="warning", lifespan="off", timeout_graceful_shutdown=int(PATIENCE)
    )
    server = StreamServer(config)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(feed.run())
        serving = group.create_task(server.serve(sockets=[listening]))
        try:
            yield server, serving
        finally:
            feed.close()
            server.should_exit = True
            await serving
            running.cancel()
