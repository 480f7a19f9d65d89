"""One connection from inside a sandbox: one request, parsed strictly, and one answer."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import h11

from midwatch.gateway.egress.wire import BUFFER, Wire
from midwatch.gateway.metering.limits import ProxyLimits, ProxyTimeouts
from midwatch.gateway.metering.providers import LOOPBACK, Shape
from midwatch.gateway.metering.refusals import RequestDeclined, error_body

LARGEST_HEAD: Final = 32_768
MOST_FIELDS: Final = 100
MOST_EARLY: Final = 65_536


class ClientHungUp(Exception):
    """The job closed the connection."""


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The head of a request, as received."""

    method: str
    target: str
    fields: tuple[tuple[str, str], ...]
    """Names in lower case."""

    def values(self, name: str) -> list[str]:
        return [value for known, value in self.fields if known == name]


class BodyMemory:
    """The memory that the requests of one job use together."""

    def __init__(self, room: ProxyLimits) -> None:
        self.room = room
        self.taken = 0

    @contextmanager
    def place(self) -> Iterator["BodyAllocation"]:
        """Reserve memory for one request, and release what it used."""
        place = BodyAllocation(self)
        try:
            yield place
        finally:
            self.taken -= place.size


class BodyAllocation:
    """One request's part of the memory."""

    def __init__(self, shelf: BodyMemory) -> None:
        self._memory = shelf
        self.size = 0

    def fits(self, more: int) -> None:
        """Refuse what is too large by itself, or together with the others."""
        room = self._memory.room
        if self.size + more > room.body:
            raise RequestDeclined(413, f"A request may have at most {room.body // 1024} KiB.")
        if self._memory.taken + more > room.bodies:
            raise RequestDeclined(429, "This job has too many large requests at the same time.")

    def add(self, more: int) -> None:
        """Reserve so many bytes more."""
        self.fits(more)
        self.size += more
        self._memory.taken += more


class ClientConnection:
    """Serves one HTTP/1.1 request of one program of a job: what follows on the connection is never read."""

    def __init__(self, wire: Wire, shape: Shape, patience: ProxyTimeouts) -> None:
        self._wire = wire
        self._shape: Shape = shape
        self._patience = patience
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=LARGEST_HEAD)
        self._bare = False
        """Whether the answer may have no body."""
        self.answering = False
        """Whether a part of the answer was sent, so that no other can be given."""

    async def head(self) -> RequestHead:
        """Read the head of the request within its time; what two parsers could read differently is refused."""
        try:
            async with asyncio.timeout(self._patience.head):
                event = await self._event()
        except TimeoutError:
            raise RequestDeclined(408, "The request did not come in time.") from None
        if not isinstance(event, h11.Request):
            raise ClientHungUp
        fields = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in event.headers)
        self._bare = event.method == b"HEAD"
        heard = RequestHead(event.method.decode("latin-1"), event.target.decode("latin-1"), fields)
        _check(heard)
        return heard

    async def body(self, heard: RequestHead, place: "BodyAllocation") -> bytes:
        """Read the body, within its time and its size."""
        sizes = heard.values("content-length")
        place.fits(int(sizes[0]) if sizes else 0)
        if self._http.they_are_waiting_for_100_continue:
            await self._write(self._http.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(self._patience.body):
                while isinstance(event := await self._event(), h11.Data):
                    place.add(len(event.data))
                    parts.append(bytes(event.data))
        except TimeoutError:
            raise RequestDeclined(408, "The body of the request did not come in time.") from None
        if not isinstance(event, h11.EndOfMessage):
            raise ClientHungUp
        return b"".join(parts)

    async def until_gone(self) -> None:
        """Wait until the job closes the connection, and raise; any further bytes are ignored."""
        heard = 0
        while data := await self._wire.reader.read(BUFFER):
            heard += len(data)
            if heard > MOST_EARLY:
                break
        raise ClientHungUp

    async def begin(self, status: int, fields: Iterable[tuple[str, str]]) -> None:
        """Send the head of the answer."""
        given = [(name, value) for name, value in fields if name.lower() not in {"connection", "transfer-encoding"}]
        try:
            head = h11.Response(status_code=status, headers=[*given, ("connection", "close")], reason=_reason(status))
            data = self._http.send(head) or b""
        except h11.LocalProtocolError:
            raise RequestDeclined(502, "The provider gave an answer that cannot be passed on.") from None
        self.answering = True
        await self._write(data)

    async def pass_on(self, data: bytes) -> None:
        """Send a part of the answer, and wait until the job has read it."""
        try:
            framed = self._http.send(h11.Data(data=data))
        except h11.LocalProtocolError:
            raise RequestDeclined(502, "The provider sent more than it had announced.") from None
        await self._write(framed or b"")

    async def end(self) -> None:
        """End the answer as complete."""
        try:
            rest = self._http.send(h11.EndOfMessage())
        except h11.LocalProtocolError:
            raise RequestDeclined(502, "The provider sent less than it had announced.") from None
        await self._write(rest or b"")
        await self._wire.hang_up(self._patience.linger)

    async def decline(self, declined: RequestDeclined) -> None:
        """Refuse in the provider's format; cut an answer that has begun, so that it cannot be mistaken for complete."""
        if self.answering:
            self.break_off()
            return
        body = error_body(self._shape, declined.answer, declined.message)
        fields = [("content-type", "application/json"), ("content-length", str(len(body)))]
        if declined.answer == 426:
            fields.append(("upgrade", "HTTP/1.1"))
        head = "".join(f"{name}: {value}\r\n" for name, value in (*fields, ("connection", "close")))
        # Not with h11: after a request it could not parse, it sends nothing any more.
        self.answering = True
        first = f"HTTP/1.1 {declined.answer} {_reason(declined.answer).decode()}\r\n"
        await self._write(f"{first}{head}\r\n".encode("latin-1") + (b"" if self._bare else body))
        await self._wire.hang_up(self._patience.linger)

    def break_off(self) -> None:
        """Close the connection so that a partial answer cannot be mistaken for the whole."""
        self._wire.break_off()

    async def _event(self) -> object:
        while True:
            try:
                event = self._http.next_event()
                if event is not h11.NEED_DATA:
                    return event
                self._http.receive_data(await self._wire.reader.read(BUFFER))
            except h11.RemoteProtocolError as odd:
                status = 431 if odd.error_status_hint == 431 else 400
                raise RequestDeclined(status, "The request is not plain HTTP/1.1.") from None
            except ConnectionError:
                raise ClientHungUp from None

    async def _write(self, data: bytes) -> None:
        writer = self._wire.writer
        writer.write(data)
        if not writer.transport.get_write_buffer_size() and not writer.transport.is_closing():
            return  # already read, as almost always
        try:
            async with asyncio.timeout(self._patience.stalled):
                await writer.drain()
        except OSError:  # also TimeoutError
            raise ClientHungUp from None


def _check(heard: RequestHead) -> None:
    size = len(heard.target) + sum(len(name) + len(value) for name, value in heard.fields)
    if len(heard.fields) > MOST_FIELDS or size > LARGEST_HEAD:
        raise RequestDeclined(431, "The head of the request is too large.")
    if heard.values("upgrade"):
        raise RequestDeclined(426, "Only plain HTTP/1.1 is supported here.")
    if heard.values("content-length") and heard.values("transfer-encoding"):
        raise RequestDeclined(400, "The request gives its length in two ways.")
    hosts = heard.values("host")
    if len(hosts) > 1 or not all(_near(host) for host in hosts):
        raise RequestDeclined(400, "The request is meant for another host.")
    if not heard.target.startswith("/"):
        raise RequestDeclined(400, "Only paths may be asked for here, not addresses.")


def _near(host: str) -> bool:
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    return name.lower() in LOOPBACK


def _reason(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b""
