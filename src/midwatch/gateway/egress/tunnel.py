"""Tunnels: TLS to exactly the requested host, forwarded without being opened."""

import asyncio
from contextlib import suppress

from midwatch.gateway.egress.connection import EgressRefused, LiveConnection
from midwatch.gateway.egress.policy import EgressDeadlines
from midwatch.gateway.egress.tls import RETRY_SEEN_AFTER, asks_again, check_name, read_hello
from midwatch.gateway.egress.wire import BUFFER, Wire, one_failure, pump, within

OPEN = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Tunnel:
    """One tunnel of one visit."""

    def __init__(self, visit: LiveConnection, job: Wire, world: Wire, deadlines: EgressDeadlines) -> None:
        self._visit = visit
        self._job = job
        self._world = world
        self._deadlines = deadlines

    async def run(self) -> None:
        """Open the tunnel, check the names, and forward both ways until both have ended."""
        self._visit.stage = "greeting"
        self._job.writer.write(OPEN)
        rest = await self._hello(b"", again=False)
        first = await self._first_flight()
        if asks_again(first):
            await self._bring(first)
            rest = await self._hello(rest, again=True)
        else:
            await self._bring(first)
        self._visit.stage = "sealed"
        if rest:
            await self._send(rest)
        with suppress(ConnectionError), one_failure():
            async with asyncio.TaskGroup() as ways:
                ways.create_task(self._outward())
                ways.create_task(self._inward())

    async def _hello(self, raw: bytes, *, again: bool) -> bytes:
        """Send one checked hello out; what came after it waits until the server has answered."""
        host = self._visit.host
        async with within(self._deadlines.hello, f"The tunnel to {host} did not begin TLS in time.", "refused"):
            while (hello := read_hello(raw, again=again)) is None:
                data = await self._job.reader.read(BUFFER)
                if not data:
                    raise EgressRefused(f"The tunnel to {host} ended before TLS began.", "failed")
                raw += data
        check_name(hello, host)
        await self._send(raw[: hello.end])
        return raw[hello.end :]

    async def _first_flight(self) -> bytes:
        first = b""
        while len(first) < RETRY_SEEN_AFTER:
            data = await self._world.reader.read(BUFFER)
            first += data
            if not data or first[0] != 22:
                break
        return first

    async def _outward(self) -> None:
        await pump(self._job.reader, self._send)
        self._world.writer.write_eof()

    async def _inward(self) -> None:
        await pump(self._world.reader, self._bring)
        self._job.writer.write_eof()

    async def _send(self, data: bytes) -> None:
        await self._visit.send(data, self._world.writer)

    async def _bring(self, data: bytes) -> None:
        await self._visit.bring(data, self._job.writer)
