"""Requests rewritten for the remote host, with a registry's credential added outside, and their answers."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from midwatch.errors import MidwatchError
from midwatch.gateway.egress.connection import EgressRefused, LiveConnection
from midwatch.gateway.egress.http_head import MessageHead, ProxyRequest, read_response, written
from midwatch.gateway.egress.policy import HeaderSource, RegistryHost, RegistryRoute
from midwatch.gateway.egress.wire import Wire, one_failure, pump, pump_length

MOST_INTERIM: Final = 8
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_OURS: Final = ("host", "content-length", "expect")
_PERSONAL: Final = ("authorization", "cookie", "x-api-key")

_CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,8})\r\n")
_LONGEST_CHUNK_LINE: Final = 10

Fields = tuple[tuple[str, str], ...]
Move = Callable[[bytes], Awaitable[None]]
Registry = RegistryRoute | RegistryHost
READING: Final = frozenset({"GET", "HEAD"})


async def head_for(request: ProxyRequest, route: Registry | None) -> bytes:
    """Build the head for the remote host."""
    if isinstance(route, RegistryHost):
        return await _reading_head(request, route)
    framing: Fields = (("Content-Length", str(request.length)),) if request.length is not None else ()
    framing = (("Transfer-Encoding", "chunked"),) if request.chunked else framing
    close: Fields = (("Connection", "close"),)
    if route is None:
        first = f"{request.method} {request.path} {request.version}"
        return written(first, (("Host", request.authority), *close, *request.head.kept(*_OURS), *framing))
    if request.method not in route.methods:
        raise EgressRefused(f"{route.name} may be read, but {request.method} is not allowed there.", status=405)
    added = await _credential(route.name, route.headers)
    usual = 443 if route.secure else 80
    host = route.host if route.port == usual else f"{route.host}:{route.port}"
    kept = request.head.kept(*_OURS, *_PERSONAL, *(name.lower() for name in added))
    first = f"{request.method} {path_on(route, request.path)} {request.version}"
    return written(first, (("Host", host), *close, *kept, *added.items(), *framing))


async def _reading_head(request: ProxyRequest, registry: RegistryHost) -> bytes:
    """Build the head of a request that can only read; the job's own credential is left behind."""
    if request.method not in READING:
        why = f"{registry.host} may be read, but {request.method} is not allowed there."
        raise EgressRefused(why, status=405)
    if request.length or request.chunked:
        raise EgressRefused(f"The request to {registry.host} was refused: reading needs no body.", status=400)
    _plain_path(registry.host, request.path)
    below = request.path.startswith(registry.folder)
    added = await _credential(registry.host, registry.headers) if below else {}
    kept = request.head.kept(*_OURS, *_PERSONAL, *(name.lower() for name in added))
    first = f"{request.method} {request.path} HTTP/1.1"
    return written(first, (("Host", registry.authority), *kept, *added.items()))


def _plain_path(name: str, path: str) -> None:
    parts = unquote(path.partition("?")[0]).replace("\\", "/").split("/")
    if {".", ".."} & set(parts):
        raise EgressRefused(f"The request to {name} was refused: its path leaves the registry.", status=400)


def path_on(route: RegistryRoute, path: str) -> str:
    """Resolve a path below the folder of a route; one that would leave the folder is refused."""
    _plain_path(route.name, path)
    return route.path + path.lstrip("/")


async def carry(visit: LiveConnection, request: ProxyRequest, job: Wire, world: Wire, route: Registry | None) -> None:
    """Send the body and receive the answer at the same time: an answer may come early."""
    if request.head.values("expect"):
        job.writer.write(CONTINUE)

    async def send(data: bytes) -> None:
        # A remote host that needs no more closes the connection; then its answer counts.
        with suppress(ConnectionError):
            await visit.send(data, world.writer)

    with one_failure():
        async with asyncio.TaskGroup() as ways:
            sending = ways.create_task(_upload(request, job.reader, send))
            answer = await read_answer(visit, request, world, route)
            await pass_on(visit, answer, job, world, keeps=False)
            sending.cancel()


@dataclass(frozen=True, slots=True)
class Answer:
    """The head of an answer, as it is passed on, and how its body ends."""

    first: str
    fields: Fields
    length: int | None
    bodiless: bool
    asks_to_close: bool

    @property
    def ends_itself(self) -> bool:
        """Whether the body has an end of its own, so that the connection may stay open after it."""
        chunked = any(name == "Transfer-Encoding" for name, _ in self.fields)
        return self.bodiless or self.length is not None or chunked

    @property
    def leaves_it_open(self) -> bool:
        """Whether its connection can carry another request."""
        return self.ends_itself and self.first.startswith("HTTP/1.1") and not self.asks_to_close


class AnswerMissing(EgressRefused):
    """The remote host closed the connection before the first byte of an answer."""


async def read_answer(visit: LiveConnection, request: ProxyRequest, world: Wire, route: Registry | None) -> Answer:
    """Read the head of the answer to a request."""
    none = f"{visit.host} gave no answer that can be passed on."
    try:
        status, head = await _final_head(world.reader)
        length, fields = _answer_fields(head, route)
    except asyncio.IncompleteReadError as ended:
        kind = EgressRefused if ended.partial else AnswerMissing
        raise kind(none, "failed", 502) from None
    except ConnectionError:
        raise AnswerMissing(none, "failed", 502) from None
    except (asyncio.LimitOverrunError, EgressRefused):
        raise EgressRefused(none, "failed", 502) from None
    if route is not None:
        visit.registry_said(status)
    asks_to_close = "close" in ",".join(head.values("connection")).lower()
    return Answer(head.first, fields, length, request.method == "HEAD" or status in {204, 304}, asks_to_close)


async def pass_on(visit: LiveConnection, answer: Answer, job: Wire, world: Wire, *, keeps: bool) -> None:
    """Bring an answer to the job, and say whether its connection closes after that."""

    async def bring(data: bytes) -> None:
        await visit.bring(data, job.writer)

    await bring(written(answer.first, (*answer.fields, *(() if keeps else (("Connection", "close"),)))))
    if answer.bodiless:
        return
    if answer.length is not None:
        await pump_length(world.reader, bring, answer.length)
    elif answer.ends_itself:
        await _bring_chunks(world.reader, bring)
    else:
        await pump(world.reader, bring)


async def _bring_chunks(world: asyncio.StreamReader, bring: Move) -> None:
    """Pass a chunked body on until its own end: not every host closes the connection after it."""
    try:
        while size := int((await world.readuntil(b"\n")).partition(b";")[0].strip() or b"-", 16):
            await bring(b"%x\r\n" % size)
            await pump_length(world, bring, size)
            await world.readuntil(b"\n")
            await bring(b"\r\n")
        while (await world.readuntil(b"\n")).strip():
            pass
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        raise EgressRefused("The answer broke off.", "failed", 502) from None
    await bring(b"0\r\n\r\n")


async def _final_head(reader: asyncio.StreamReader) -> tuple[int, MessageHead]:
    for _ in range(MOST_INTERIM):
        status, head = read_response(await reader.readuntil(b"\r\n\r\n"))
        if status == 101:
            break
        if status >= 200:
            return status, head
    raise EgressRefused("The server did not answer.", "failed", 502)


def _answer_fields(head: MessageHead, route: Registry | None) -> tuple[int | None, Fields]:
    codings = [value.lower() for value in head.values("transfer-encoding")]
    lengths = head.values("content-length")
    if codings not in ([], ["chunked"]) or len(lengths) > 1 or not all(one.isdecimal() for one in lengths):
        raise EgressRefused("The length of the answer is unclear.", "failed", 502)
    if codings:
        return None, (*_localised(head.kept("content-length"), route), ("Transfer-Encoding", "chunked"))
    return int(lengths[0]) if lengths else None, _localised(head.kept(), route)


def _localised(fields: Fields, route: Registry | None) -> Fields:
    """Keep a route's cookies outside, and its redirects on the route."""
    if route is None:
        return fields
    if isinstance(route, RegistryHost):
        return tuple((name, value) for name, value in fields if name.lower() != "set-cookie")
    usual = 443 if route.secure else 80
    far = f"{'https' if route.secure else 'http'}://{route.host}{'' if route.port == usual else f':{route.port}'}"
    local = f"http://{route.name}/"
    fresh = []
    for name, value in fields:
        if name.lower() in {"location", "content-location"}:
            path = value.removeprefix(far)
            below = path.startswith(route.path)
            fresh.append((name, local + path.removeprefix(route.path) if below else value))
        elif name.lower() != "set-cookie":
            fresh.append((name, value))
    return tuple(fresh)


async def _credential(name: str, headers: HeaderSource) -> Mapping[str, str]:
    try:
        added = dict(await headers())
        written("", tuple(added.items()))
    except (MidwatchError, OSError, ValueError):
        # Its own message is not repeated: it may hold the credential that it could not use.
        raise EgressRefused(f"The credential for {name} is not available.", "failed", 502) from None
    return added


async def _upload(request: ProxyRequest, job: asyncio.StreamReader, move: Move) -> None:
    """Forward the body of a request, if it has one."""
    if request.chunked:
        await _chunks(job, move)
    elif request.length:
        await pump_length(job, move, request.length)


async def _chunks(job: asyncio.StreamReader, move: Move) -> None:
    while size := await _chunk_size(job):
        await move(b"%x\r\n" % size)
        await pump_length(job, move, size)
        await _line_end(job)
        await move(b"\r\n")
    await _line_end(job)
    await move(b"0\r\n\r\n")


async def _chunk_size(job: asyncio.StreamReader) -> int:
    try:
        line = await job.readuntil(b"\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise _bad_chunk() from None
    found = _CHUNK.fullmatch(line) if len(line) <= _LONGEST_CHUNK_LINE else None
    if found is None:
        raise _bad_chunk()
    return int(found[1], 16)


async def _line_end(job: asyncio.StreamReader) -> None:
    """Trailers are dropped too: after the last chunk comes an empty line."""
    try:
        ended = await job.readexactly(2) == b"\r\n"
    except asyncio.IncompleteReadError:
        ended = False
    if not ended:
        raise _bad_chunk()


def _bad_chunk() -> EgressRefused:
    return EgressRefused("The request was refused: its body is badly chunked.", status=400)
