"""One HTTP connection of the scripted model, byte by byte where a test wants that."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import h11


class Left(Exception):
    """The other side has gone."""


class Wire:
    """Reads requests and writes answers; a cut is a plain close, so that every byte before it arrives."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.http = h11.Connection(h11.SERVER)

    async def request(self) -> tuple[h11.Request, bytes] | None:
        """Wait for a whole request; nothing when the other side is done."""
        if self.http.our_state is h11.DONE and self.http.their_state is h11.DONE:
            self.http.start_next_cycle()
        head: h11.Request | None = None
        body = bytearray()
        while self.http.our_state not in (h11.MUST_CLOSE, h11.CLOSED, h11.ERROR):
            event = self.http.next_event()
            if event is h11.NEED_DATA:
                self.http.receive_data(await self.reader.read(65536))
            elif isinstance(event, h11.Request):
                head = event
                await self._go_on()
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                return head, bytes(body)
            else:
                return None
        return None

    async def _go_on(self) -> None:
        if self.http.they_are_waiting_for_100_continue:
            await self._write(h11.InformationalResponse(status_code=100, headers=[]))

    async def _write(self, event: h11.Event) -> None:
        data = self.http.send(event)
        try:
            self.writer.write(data or b"")
            await self.writer.drain()
        except (ConnectionError, RuntimeError) as gone:
            raise Left from gone

    async def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the head of an answer."""
        await self._write(h11.Response(status_code=status, headers=list(headers.items())))

    async def send(self, data: bytes) -> None:
        """Send some of the body."""
        await self._write(h11.Data(data=data))

    async def end(self) -> None:
        """Finish the answer; the connection may be used again."""
        await self._write(h11.EndOfMessage())

    async def whole(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        """Answer with a JSON body."""
        data = json.dumps(body).encode()
        about = {"content-type": "application/json", "content-length": str(len(data)), "request-id": "req_scripted"}
        await self.begin(status, about | dict(headers or {}))
        if self.http.their_state is not h11.CLOSED:
            await self.send(data)
        await self.end()

    async def until(self, released: asyncio.Event) -> None:
        """Wait for the event; raise Left when the other side goes first."""
        going = asyncio.ensure_future(self.reader.read(1))
        waiting = asyncio.ensure_future(released.wait())
        try:
            await asyncio.wait((going, waiting), return_when=asyncio.FIRST_COMPLETED)
            if going.done() and not waiting.done():
                raise Left
        finally:
            for task in (going, waiting):
                task.cancel()
            await asyncio.gather(going, waiting, return_exceptions=True)

    async def close(self) -> None:
        """Hang up; what was written still arrives."""
        self.writer.close()
        try:
            await self.writer.wait_closed()
        except ConnectionError:
            return


def split(data: bytes, start: int, marks: Sequence[int | None], *, single: bool) -> Iterator[bytes]:
    """Cut data so that each mark (a count of bytes from the stream's beginning) falls between two parts."""
    edges = {mark - start for mark in marks if mark is not None and start < mark < start + len(data)}
    stops: Iterable[int] = range(1, len(data) + 1) if single else sorted(edges | {len(data)})
    at = 0
    for stop in stops:
        yield data[at:stop]
        at = stop
