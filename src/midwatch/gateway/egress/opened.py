"""Tunnels to registries, opened: a job reads from them, and what would publish is refused."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

from midwatch.gateway.egress.connection import EgressRefused, LiveConnection
from midwatch.gateway.egress.http_head import LARGEST_HEAD, ProxyRequest, read_request, written
from midwatch.gateway.egress.policy import EgressDeadlines
from midwatch.gateway.egress.tunnel import OPEN
from midwatch.gateway.egress.wire import Wire

_REST: Final = 60.0
"""Seconds that a connection may rest between two requests."""

Forward = Callable[[ProxyRequest, Wire], Awaitable[bool]]
"""Carries out one request, and returns whether the connection can carry another."""


class OpenedTunnel:
    """One tunnel to a registry: the job's TLS ends here, and each request in it is judged."""

    def __init__(self, visit: LiveConnection, job: Wire, identity: ssl.SSLContext, deadlines: EgressDeadlines) -> None:
        self._visit = visit
        self._job = job
        self._identity = identity
        self._deadlines = deadlines

    async def run(self, forward: Forward) -> None:
        """Serve the requests of the tunnel one after another; the first that is refused ends it."""
        self._visit.stage = "greeting"
        self._job.writer.write(OPEN)
        inner = await self._accept()
        self._visit.stage = "sealed"
        before = self._visit.bytes_in
        try:
            while (raw := await self._next(inner.reader, begun=before > 0)) is not None:
                request = read_request(raw, to=(self._visit.host, self._visit.port))
                wants_more = "close" not in ",".join(request.head.values("connection")).lower()
                if not (await forward(request, inner) and wants_more):
                    break
                before = self._visit.bytes_in
        except EgressRefused as turned:
            if self._visit.bytes_in > before:
                inner.cut()  # in the middle of an answer: the job must not take it for the whole
            else:
                _tell(inner, turned)
            raise
        finally:
            await inner.hang_up(self._deadlines.linger)

    async def _accept(self) -> Wire:
        reader = asyncio.StreamReader(limit=LARGEST_HEAD)
        protocol = asyncio.StreamReaderProtocol(reader)
        loop = asyncio.get_running_loop()
        host = self._visit.host
        try:
            transport = await loop.start_tls(
                self._job.writer.transport,
                protocol,
                self._identity,
                server_side=True,
                ssl_handshake_timeout=self._deadlines.hello,
            )
        except (ssl.SSLError, OSError):
            why = f"The tunnel to {host} did not begin TLS, or its program does not trust Midwatch's certificate."
            raise EgressRefused(why, "failed") from None
        if transport is None:  # pragma: no cover - it was closed in the same moment
            raise EgressRefused(f"The tunnel to {host} ended before TLS began.", "failed")
        protocol.connection_made(transport)
        return Wire.of(reader, asyncio.StreamWriter(transport, protocol, reader, loop))

    async def _next(self, reader: asyncio.StreamReader, *, begun: bool) -> bytes | None:
        """Read the head of the next request; None where the job wants no more."""
        try:
            async with asyncio.timeout(_REST if begun else self._deadlines.head):
                return await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise EgressRefused("The request was refused: its head is too large.", status=431) from None
        except (asyncio.IncompleteReadError, TimeoutError, OSError):
            return None


def _tell(inner: Wire, turned: EgressRefused) -> None:
    text = f"{turned.message}\n".encode()
    fields = (("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(text))))
    first = f"HTTP/1.1 {turned.answer} {HTTPStatus(turned.answer).phrase}"
    inner.writer.write(written(first, (*fields, ("Connection", "close"))) + text)
