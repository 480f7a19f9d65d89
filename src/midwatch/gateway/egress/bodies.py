"""Bodies of requests: read by their own framing and framed anew, so that nothing can hide behind them."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Final

from midwatch.gateway.egress.connection import EgressRefused
from midwatch.gateway.egress.http_head import ProxyRequest
from midwatch.gateway.egress.wire import pump_length

_CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,8})\r\n")
_LONGEST_CHUNK_LINE: Final = 10

Move = Callable[[bytes], Awaitable[None]]


async def upload(request: ProxyRequest, job: asyncio.StreamReader, move: Move) -> None:
    """Move the body of a request, if it has one."""
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
    """Trailers are not carried either: after the last chunk comes an empty line."""
    try:
        ended = await job.readexactly(2) == b"\r\n"
    except asyncio.IncompleteReadError:
        ended = False
    if not ended:
        raise _bad_chunk()


def _bad_chunk() -> EgressRefused:
    return EgressRefused("The request was refused: its body is badly chunked.", status=400)
