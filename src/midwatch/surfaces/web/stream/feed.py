"""The event stream: every entry encoded once, the same bytes for every reader, resumed by the journal's own numbers."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from midwatch.compose.house import House
from midwatch.compose.opening import going_on
from midwatch.journal.entry import Entry
from midwatch.journal.events.people import PersonEntered
from midwatch.surfaces.api.access import Reads
from midwatch.surfaces.queries.names import NameBook
from midwatch.surfaces.web.stream.reader import Reader, StillReads, as_json, message
from midwatch.views.entries.sse import PING, connected, streamed

PAGE = 200
BURST_SECONDS = 0.01
"""How long a batch waits for more entries."""
OTHERS_SECONDS = 0.05
"""The longest delay for another process's entry; entries of this process arrive at once."""
PING_SECONDS = 30.0
HEADERS = ((b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no"))
LONGEST_SECONDS = 900.0
"""After this long a reader must reconnect and authenticate: its login may be over."""
SHUTTING = frozenset({"person.changed", "person.removed", "person.left", "token.revoked"})
"""After these events a person may have fewer rights than when they connected."""
Say = Callable[[bytes], Awaitable[None]]
Paint = Callable[[Sequence[Entry]], Awaitable[str]]
"""Makes one piece of HTML, the same for every reader, that updates a page to the last of these entries."""
PINGS = {False: message(data=as_json(PING)), True: b": ping\n\n"}
RETRY_MS = 1000
log = logging.getLogger("midwatch")


class Feed:
    """Follows the journal while there are readers, and sends it to all of them."""

    def __init__(
        self,
        house: House,
        paint: Paint,
        *,
        ping_seconds: float = PING_SECONDS,
        longest_seconds: float = LONGEST_SECONDS,
    ) -> None:
        self._journal = house.journal
        self._encoder = Encoder(NameBook(house), paint)
        self._head = house.records.head
        self._ping_seconds = ping_seconds
        self._longest_seconds = longest_seconds
        self._open: set[Reader] = set()
        self._readers: set[Reader] = set()
        """The open readers that are caught up and receive each batch."""
        self._sent = self._known = 0
        self._pending: list[Entry] = []
        self._closed = False
        self._wanted, self._deserted, self._ready, self._wake_up, self._turn = (asyncio.Event() for _ in range(5))

    async def run(self) -> None:
        """Follow the journal while there are readers; after an error continue where it was."""
        await going_on(self._watch)

    async def _watch(self) -> None:
        await self._wanted.wait()  # no readers: not even a poll
        try:
            await self._begin()
            async with asyncio.TaskGroup() as group:
                parts = [group.create_task(part()) for part in (self._follow, self._tell, self._ping)]
                await self._deserted.wait()
                for part in parts:
                    part.cancel()
        finally:
            self._ready.clear()

    def close(self) -> None:
        """End every stream now; later readers are refused."""
        self._closed = True
        for reader in self._open:
            reader.end()
        self._ready.set()
        self._turn.set()

    async def serve(self, reader: Reader, after: int | None, say: Say) -> None:
        """Send a reader everything after a place and then everything new, until it ends."""
        if self._closed:
            return
        self._open.add(reader)
        self._deserted.clear()
        self._wanted.set()
        try:
            await self._ready.wait()
            place = await self._place(after)
            await say(self._encoder.greeting(place, html=reader.html))
            await self._catch_up(reader, place, say)
            while chunk := await reader.take():
                await say(chunk)
        finally:
            self._readers.discard(reader)
            self._open.discard(reader)
            if not self._open:
                self._wanted.clear()
                self._deserted.set()

    async def _begin(self) -> None:
        if not self._readers:  # a reader that is connected already must not lose what came in between
            self._reach(await self._head())
        self._known = self._sent
        self._pending.clear()
        self._ready.set()

    async def _follow(self) -> None:
        self._journal.listeners.append(self._heard)
        try:
            async for entry in self._journal.tail(after=self._known, gather=OTHERS_SECONDS):
                if entry.seq > self._known:
                    self._take(entry)
        finally:
            self._journal.listeners.remove(self._heard)

    def _heard(self, entries: tuple[Entry, ...]) -> None:
        """Take entries of this process, unless another process wrote before: then the tail brings both, in order."""
        for entry in entries:
            if entry.seq == self._known + 1:
                self._take(entry)

    def _take(self, entry: Entry) -> None:
        self._known = entry.seq
        self._pending.append(entry)
        self._wake_up.set()

    async def _tell(self) -> None:
        while True:
            await self._wake_up.wait()
            await asyncio.sleep(BURST_SECONDS)
            self._wake_up.clear()
            while batch := tuple(self._pending[:PAGE]):
                await self._publish(batch)
                del self._pending[: len(batch)]

    async def _publish(self, batch: tuple[Entry, ...]) -> None:
        chunks: dict[bool, bytes] = {}
        while missing := {reader.html for reader in self._readers} - chunks.keys():  # more may connect while we encode
            for html in missing:
                chunks[html] = await self._encoder.encoded(batch, html=html)
        for reader in tuple(self._readers):
            self._put(reader, chunks[reader.html])
        self._reach(batch[-1].seq)
        if any(_may_end_rights(entry) for entry in batch):
            self._send_round(self._open)

    def _reach(self, seq: int) -> None:
        self._sent = seq
        turn, self._turn = self._turn, asyncio.Event()
        turn.set()

    def _put(self, reader: Reader, chunk: bytes) -> None:
        if not reader.put(chunk):
            self._readers.discard(reader)

    def _send_round(self, readers: Iterable[Reader]) -> None:
        """Make these readers reconnect and authenticate again; those who still may lose nothing."""
        for reader in tuple(readers):
            reader.end()
            self._readers.discard(reader)

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(self._ping_seconds)
            for reader in tuple(self._readers):
                self._put(reader, PINGS[reader.html])
            longest = time.monotonic() - self._longest_seconds
            self._send_round(reader for reader in self._open if reader.since < longest)
            self._send_round([reader for reader in tuple(self._open) if not await reader.still()])

    async def _place(self, after: int | None) -> int:
        if after is None or (after > self._sent and after > await self._head()):
            return self._sent  # a number the journal never assigned belongs to another database
        while after > self._sent and not self._closed:
            await self._turn.wait()  # its page was read a moment before its entries were sent
        return after

    async def _catch_up(self, reader: Reader, place: int, say: Say) -> None:
        while not reader.over:
            upto = self._sent
            if place >= upto:
                self._readers.add(reader)  # nothing was awaited since the check: no gap, no duplicate
                return
            page = await self._journal.entries(after=place, limit=PAGE)
            page = tuple(entry for entry in page if entry.seq <= upto)
            if page:
                await say(await self._encoder.encoded(page, html=reader.html))
            place = page[-1].seq if len(page) == PAGE else upto


def _may_end_rights(entry: Entry) -> bool:
    """Whether an entry may have ended the right of a reader; a new password ends the logins that there were."""
    event = entry.event
    return event.kind in SHUTTING or (isinstance(event, PersonEntered) and event.way == "link")


class Stream(Response):
    """A long response; written without a library because each delivery passes here."""

    media_type = "text/event-stream"

    def __init__(self, feed: Feed, still: StillReads, *, after: int | None, html: bool) -> None:
        super().__init__()
        self._still = still
        self._feed = feed
        self._after = after
        self._html = html

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  the shape of ASGI
        """Serve until the reader leaves, falls behind, or Midwatch closes."""
        await send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})

        async def say(chunk: bytes) -> None:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})

        async with asyncio.TaskGroup() as group:
            serving = group.create_task(self._feed.serve(Reader(html=self._html, still=self._still), self._after, say))
            going = group.create_task(_gone(receive))
            await asyncio.wait((serving, going), return_when=asyncio.FIRST_COMPLETED)
            serving.cancel()
            going.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def wants_html(accept: Iterable[str]) -> bool:
    """Return whether the reader is a page (hx-sse sends `text/html, text/event-stream`) and not a program."""
    kinds = {kind.partition(";")[0].strip().lower() for line in accept for kind in line.split(",")}
    return "text/html" in kinds and "application/json" not in kinds


router = APIRouter()


@router.get("/events", dependencies=[Reads], include_in_schema=False)
async def events(
    request: Request,
    after: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    last_event_id: Annotated[str, Header()] = "",
) -> Stream:
    """Stream the journal after an entry, or from now on."""
    feed: Feed = request.state.feed
    resumed = int(last_event_id) if last_event_id.isdecimal() and len(last_event_id) < 20 else after
    return Stream(feed, request.state.still, after=resumed, html=wants_html(request.headers.getlist("accept")))


class Encoder:
    """Encodes entries, with the names of what they mention."""

    def __init__(self, names: NameBook, paint: Paint) -> None:
        self._names = names
        self._paint = paint

    def greeting(self, seq: int, *, html: bool) -> bytes:
        """Open a reader's stream; for a page as a named event, so that nothing is swapped."""
        return message(seq=seq, event="connected" if html else "", data=as_json(connected(seq)), retry=RETRY_MS)

    async def encoded(self, batch: Sequence[Entry], *, html: bool) -> bytes:
        """Encode a batch: one message for each entry, or one piece of a page for all of them."""
        if not html:
            names = await self._names.of(batch)
            return b"".join(message(seq=one.seq, data=as_json(streamed(one, names))) for one in batch)
        last = batch[-1].seq
        try:
            return message(seq=last, data=await self._paint(batch))
        except Exception:
            log.exception("entries %s to %s could not be painted", batch[0].seq, last)
            return message(seq=last, event="unpainted", data=str(batch[0].seq))  # one bad row must not end the stream
