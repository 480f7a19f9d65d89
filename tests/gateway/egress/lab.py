"""A small internet on loopback: far ends that write down what they hear, and a job that says what it likes."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from midwatch.gateway.egress import (
    ConnectionRecord,
    EgressCaps,
    EgressDeadlines,
    EgressPolicy,
    EgressProxy,
    RegistryHost,
    RegistryRoute,
)
from midwatch.rules.budget.egress import rules_of
from tests.patience import PATIENCE

QUICK = EgressDeadlines(head=60, hello=60, resolve=60, dial=60, idle=120, whole=240, linger=1)
HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


class Bell:
    """Rings when something has happened, so that nobody needs to look again and again."""

    def __init__(self) -> None:
        self._woken = asyncio.Event()

    def wake_now(self) -> None:
        self._woken.set()

    async def until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not true():
                self._woken.clear()
                await self._woken.wait()


@dataclass
class FarEnd:
    """A server that answers each connection with the same bytes and keeps what it heard."""

    answer: bytes = HELLO
    heard: list[bytes] = field(default_factory=list)
    port: int = 0
    ends: bytes = b"\r\n\r\n"
    talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]] | None = None
    open: int = 0
    wake_up: Bell = field(default_factory=Bell)

    def hear(self, said: bytes) -> None:
        self.heard.append(said)
        self.wake_up.wake_now()

    async def has_heard(self) -> bytes:
        """Wait for the first thing said."""
        await self.wake_up.until(lambda: bool(self.heard))
        return self.heard[0]

    async def is_alone(self) -> None:
        await self.wake_up.until(lambda: not self.open)

    async def attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            if self.talk is not None:
                await self.talk(reader, writer)
            else:
                self.hear(await reader.readuntil(self.ends))
                writer.write(self.answer)
                await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError) as cut:
            if isinstance(cut, asyncio.IncompleteReadError) and cut.partial:
                self.hear(cut.partial)
        finally:
            writer.transport.abort()
            self.open -= 1
            self.wake_up.wake_now()


@asynccontextmanager
async def far_end(end: FarEnd, tls: ssl.SSLContext | None = None) -> AsyncIterator[FarEnd]:
    """Open a far end on a port of its own."""
    server = await asyncio.start_server(end.attend, "127.0.0.1", 0, ssl=tls)
    end.port = server.sockets[0].getsockname()[1]
    try:
        yield end
    finally:
        server.close()
        await end.is_alone()


@dataclass
class Lab:
    """One proxy at work."""

    egress: EgressProxy
    port: int
    records: list[ConnectionRecord]
    asked: list[str]
    wake_up: Bell

    @property
    def proxy(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def say(self, *parts: bytes) -> bytes:
        """Say something, a segment at a time, and hear everything until the proxy hangs up."""
        reader, writer = await self.dial()
        try:
            async with asyncio.timeout(PATIENCE):
                heard = asyncio.create_task(_all(reader))
                try:
                    for part in parts:
                        writer.write(part)
                        await writer.drain()
                        await asyncio.sleep(0)
                except OSError:
                    pass
                return await heard
        finally:
            writer.close()

    async def record(self, number: int = 1) -> ConnectionRecord:
        """Wait for the given record."""
        await self.wake_up.until(lambda: len(self.records) >= number)
        return self.records[number - 1]


async def _all(reader: asyncio.StreamReader) -> bytes:
    heard = b""
    try:
        while data := await reader.read(65536):
            heard += data
    except ConnectionError:
        return heard
    return heard


@asynccontextmanager
async def lab(  # noqa: PLR0913 - each test names only what it is about
    domains: Sequence[str] = ("files.example", "*.packages.example"),
    *,
    world: dict[str, list[tuple[str, int]]] | None = None,
    routes: tuple[RegistryRoute, ...] = (),
    caps: EgressCaps = EgressCaps(),  # noqa: B008
    deadlines: EgressDeadlines = QUICK,
    trust: ssl.SSLContext | None = None,
    exempt: set[tuple[str, int]] | None = None,
    registries: tuple[RegistryHost, ...] = (),
    identity: ssl.SSLContext | None = None,
) -> AsyncIterator[Lab]:
    """Open a proxy whose names lead where the test says; only those addresses on loopback are exempt."""
    world = world or {}
    records: list[ConnectionRecord] = []
    asked: list[str] = []
    wake_up = Bell()

    async def resolve(host: str, port: int) -> list[tuple[str, int]]:
        asked.append(f"{host}:{port}")
        return world.get(host, [])

    def seen(ended: ConnectionRecord) -> None:
        records.append(ended)
        wake_up.wake_now()

    known = {at for found in world.values() for at in found} if exempt is None else exempt
    policy = EgressPolicy(rules_of(domains), routes, caps, deadlines, registries, identity)
    egress = EgressProxy(policy, seen, resolve=resolve, trust=trust, exempt=known)
    listener = socket.create_server(("127.0.0.1", 0), backlog=200)
    port = listener.getsockname()[1]
    serving = asyncio.create_task(egress.serve(listener))
    try:
        yield Lab(egress, port, records, asked, wake_up)
    finally:
        await egress.close()
        await serving


def client_hello(
    *names: str, extensions: Sequence[tuple[int, bytes]] = (), body: bytes = b"\x03\x03" + bytes(32) + b"\x00"
) -> bytes:
    """Write a ClientHello with one server_name extension for all names, and whatever else is wanted."""
    entries = b"".join(b"\x00" + _sized(name.encode(), 2) for name in names)
    listed = [(0, _sized(entries, 2))] if names else []
    content = b"".join(kind.to_bytes(2, "big") + _sized(data, 2) for kind, data in [*listed, *extensions])
    message = body + _sized(b"\x13\x01\x0a\x0a", 2) + _sized(b"\x00", 1) + _sized(content, 2)
    return b"\x01" + _sized(message, 3)


def in_records(message: bytes, size: int = 16384) -> bytes:
    """Put a handshake message into records of a size."""
    parts = [message[at : at + size] for at in range(0, len(message), size)]
    return b"".join(b"\x16\x03\x01" + _sized(part, 2) for part in parts)


def server_name(*names: str, kind: int = 0) -> tuple[int, bytes]:
    """Write another server_name extension."""
    return 0, _sized(b"".join(bytes([kind]) + _sized(name.encode(), 2) for name in names), 2)


def real_hello(name: str | None) -> bytes:
    """Let OpenSSL itself say hello."""
    context = ssl.create_default_context()
    context.check_hostname = False
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    speaker = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with suppress(ssl.SSLWantReadError):
        speaker.do_handshake()
    return outgoing.read()


def _sized(data: bytes, size: int) -> bytes:
    return len(data).to_bytes(size, "big") + data
