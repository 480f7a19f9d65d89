"""A provider on loopback that does what a test says, a job that says what it likes, and a proxy between them."""

import asyncio
import json
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from midwatch.gateway.metering import (
    ANTHROPIC,
    Grant,
    MemoryLedger,
    MeteredCall,
    ModelCredential,
    ModelProxy,
    PriceList,
    Provider,
    ProviderQuota,
    ProxyLimits,
    ProxyServices,
    ProxyTimeouts,
    Upstream,
    new_placeholder,
)
from midwatch.gateway.vault import Vault
from midwatch.rules.budget.spending import Ceilings, Whose
from midwatch.terms.secrets import SecretReference
from tests.gateway.egress.lab import Bell
from tests.patience import PATIENCE
from tests.stepped_clock import SteppedClock

SECRET = "sk-ant-real-0a1b2c3d4e5f6a7b8c9d/+x"
NOW = datetime(2026, 11, 15, 3, tzinfo=UTC)
QUICK = ProxyTimeouts(head=60, body=60, connect=60, send=60, first=60, quiet=60, stalled=60, whole=300, linger=1)


class EveryModel:
    """What a job may ask in tests that are not about that."""

    def __contains__(self, model: object) -> bool:
        return True


EVERY = EveryModel()
Talk = Callable[["Got", asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Got:
    """One request as the provider heard it."""

    head: str
    body: bytes

    @property
    def first(self) -> str:
        return self.head.split("\r\n", 1)[0]

    def fields(self) -> dict[str, str]:
        lines = [line.partition(": ") for line in self.head.split("\r\n")[1:] if line]
        return {name.lower(): value for name, _, value in lines}


def answer(body: bytes, status: str = "200 OK", kind: str = "application/json", **fields: str) -> bytes:
    """Write a whole answer."""
    given = {
        "Content-Type": kind,
        "Content-Length": str(len(body)),
        **{k.replace("_", "-"): v for k, v in fields.items()},
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def message(output: int = 20, entry: int = 100, model: str = "claude-sonnet-4-5") -> bytes:
    """Write a whole answer of Anthropic's."""
    usage = {"input_tokens": entry, "output_tokens": output}
    return json.dumps({"model": model, "content": [{"type": "text", "text": "Hi"}], "usage": usage}).encode()


@dataclass
class FarModel:
    """A provider: hears whole requests, and answers each with the same bytes or as told."""

    says: bytes = field(default_factory=lambda: answer(message()))
    talk: Talk | None = None
    got: list[Got] = field(default_factory=list)
    port: int = 0
    open: int = 0
    wake_up: Bell = field(default_factory=Bell)

    async def attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            while True:
                await self._one(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()
            self.open -= 1
            self.wake_up.wake_now()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        got = Got(head[:-4], b"")
        got.body = await reader.readexactly(int(got.fields().get("content-length", "0")))
        self.got.append(got)
        self.wake_up.wake_now()
        if self.talk is not None:
            await self.talk(got, reader, writer)
        else:
            writer.write(self.says)
            await writer.drain()

    async def has_got(self, number: int = 1) -> Got:
        await self.wake_up.until(lambda: len(self.got) >= number)
        return self.got[number - 1]

    async def is_alone(self) -> None:
        await self.wake_up.until(lambda: not self.open)


@asynccontextmanager
async def far_model(far: FarModel) -> AsyncIterator[FarModel]:
    server = await asyncio.start_server(far.attend, "127.0.0.1", 0, limit=2**22)
    far.port = server.sockets[0].getsockname()[1]
    try:
        yield far
    finally:
        server.close()
        await far.is_alone()


@dataclass
class Heard:
    """What the job got."""

    raw: bytes
    reset: bool

    @property
    def status(self) -> int:
        return int(self.raw.split(b" ", 2)[1]) if self.raw else 0

    @property
    def head(self) -> str:
        return self.raw.partition(b"\r\n\r\n")[0].decode("latin-1").lower()

    @property
    def body(self) -> bytes:
        """The body without its framing, as far as it came."""
        head, _, rest = self.raw.partition(b"\r\n\r\n")
        if b"transfer-encoding: chunked" not in head.lower():
            return rest
        body = b""
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            body += rest[: int(size, 16)]
            rest = rest[int(size, 16) + 2 :]
        return body

    @property
    def whole(self) -> bool:
        chunked = "transfer-encoding: chunked" in self.head
        return not self.reset and (not chunked or self.raw.endswith(b"0\r\n\r\n"))

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Lab:
    """One proxy at work."""

    far: FarModel
    port: int
    grant: Grant
    ledger: MemoryLedger
    proxy: ModelProxy = field(init=False)
    wake_up: Bell = field(default_factory=Bell)
    calls: list[MeteredCall] = field(default_factory=list)
    fuel: list[ProviderQuota] = field(default_factory=list)
    failing: bool = False
    serving: asyncio.Task[None] | None = None

    async def settled(self, call: MeteredCall) -> None:
        if self.failing:
            raise OSError("The disk is full.")
        self.calls.append(call)
        self.wake_up.wake_now()

    async def burn(self, reading: ProviderQuota) -> None:
        self.fuel.append(reading)

    async def call(self, number: int = 1) -> MeteredCall:
        await self.wake_up.until(lambda: len(self.calls) >= number)
        return self.calls[number - 1]

    async def dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def say(self, *parts: bytes) -> Heard:
        """Say something, and hear everything until the proxy hangs up."""
        reader, writer = await self.dial()
        try:
            async with asyncio.timeout(PATIENCE):
                hearing = asyncio.create_task(_all(reader))
                try:
                    for part in parts:
                        writer.write(part)
                        await writer.drain()
                except OSError:
                    pass
                return await hearing
        finally:
            writer.transport.abort()

    def post(
        self, path: str = "/v1/messages", body: object = None, *, key: str | None = None, fields: Mapping[str, str] = {}
    ) -> bytes:
        """Write a request as a program inside would."""
        said = {"model": "claude-sonnet-4-5", "max_tokens": 50, "messages": []} if body is None else body
        raw = said if isinstance(said, bytes) else json.dumps(said).encode()
        own = {"Host": "127.0.0.1:8119", "x-api-key": self.grant.placeholder if key is None else key, **fields}
        lines = "".join(f"{name}: {value}\r\n" for name, value in own.items() if value)
        return f"POST {path} HTTP/1.1\r\n{lines}Content-Length: {len(raw)}\r\n\r\n".encode() + raw

    def key_of(self, provider: Provider) -> dict[str, Any]:
        """Say how this provider's programs present a key, for `post` and `ask`."""
        bearer = {"key": "", "fields": {"Authorization": f"Bearer {self.grant.placeholder}"}}
        return bearer if provider.key_header == "authorization" else {}

    async def ask(self, path: str = "/v1/messages", body: object = None, **more: Any) -> Heard:
        return await self.say(self.post(path, body, **more))


async def _all(reader: asyncio.StreamReader) -> Heard:
    heard = b""
    try:
        while data := await reader.read(65536):
            heard += data
    except ConnectionError:
        return Heard(heard, reset=True)
    return Heard(heard, reset=False)


@asynccontextmanager
async def lab(  # noqa: PLR0913 - each test names only what it is about
    far: FarModel | None = None,
    *,
    provider: Provider = ANTHROPIC,
    credential: ModelCredential = ModelCredential("model"),  # noqa: B008
    ceilings: Mapping[Whose, Ceilings] = {},
    patience: ProxyTimeouts = QUICK,
    room: ProxyLimits = ProxyLimits(),  # noqa: B008
    ledger: MemoryLedger | None = None,
    job: str = "job",
    secret: str = SECRET,
    base: str = "",
    prices: PriceList | None = None,
    models: Container[str] = EVERY,
) -> AsyncIterator[Lab]:
    """Open a proxy before a provider on loopback (or another at `base`), with the real secret in a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "secret"
        file.touch(0o600)
        file.write_text(secret)
        vault = Vault({"model": SecretReference.read(f"file:{file}")})
        ledger = ledger or MemoryLedger()
        ledger.open(job, {Whose.JOB: job, Whose.RUN: "run"}, ceilings)
        upstream = Upstream()
        async with far_model(far or FarModel()) as there:
            here = provider.at(base or f"http://127.0.0.1:{there.port}")
            grant = Grant(job, 1, here, credential, models, new_placeholder(provider, credential.kind))
            listener = socket.create_server(("127.0.0.1", 0), backlog=200)
            made = Lab(there, listener.getsockname()[1], grant, ledger)
            books = ProxyServices(
                ledger, vault, prices or PriceList(), SteppedClock(NOW), settled=made.settled, fuel=made.burn
            )
            made.proxy = proxy = ModelProxy(grant, books, upstream, room=room, patience=patience)
            made.serving = asyncio.create_task(proxy.serve(listener))
            try:
                yield made
            finally:
                await proxy.close()
                if not made.failing:
                    await made.serving
                await upstream.close()
