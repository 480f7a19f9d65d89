"""Entries as bytes for the event stream: JSON for programs, HTML for pages, each made once for all readers."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Protocol

from midwatch.journal.entry import Entry
from midwatch.store.journal import SqlJournal
from midwatch.surfaces.api.night import NAMING
from midwatch.surfaces.web.stream.reader import as_json, message
from midwatch.views.entries.sse import PING, brought, connected, streamed
from midwatch.views.text.names import Names, introduce, names_after

PINGS = {False: message(data=as_json(PING)), True: b": ping\n\n"}
RETRY_MS = 1000
log = logging.getLogger("midwatch")


class Painter(Protocol):
    """Draws entries for a page."""

    async def paint(self, entries: Sequence[Entry]) -> str:
        """Make one piece of HTML, the same for every reader, that brings a page up to the last of these entries."""
        ...


class Encoder:
    """Knows what things are called and to which session they belong, and writes entries down."""

    def __init__(self, journal: SqlJournal, painter: Painter) -> None:
        self._journal = journal
        self._painter = painter
        self._names = Names()
        self._sessions: dict[str, str] = {}
        self._learned = 0

    async def recall(self) -> None:
        """Learn the names of all that came while nobody looked."""
        while page := await self._journal.entries(after=self._learned, limit=1000, kinds=NAMING):
            self._names = await asyncio.to_thread(names_after, page, self._names)
            for entry in page:
                self._sessions |= brought(entry.event, self._sessions)
            self._learned = page[-1].seq

    def learn(self, batch: Iterable[Entry]) -> None:
        """Learn the names that new entries bring, each once: names are counted."""
        for entry in batch:
            if entry.seq > self._learned:
                self._names = introduce(self._names, entry.event)
                self._sessions |= brought(entry.event, self._sessions)
                self._learned = entry.seq

    def greeting(self, seq: int, *, html: bool) -> bytes:
        """Greet a reader; to a page by name, so that nothing is swapped."""
        return message(seq=seq, event="connected" if html else "", data=as_json(connected(seq)), retry=RETRY_MS)

    async def encoded(self, batch: Sequence[Entry], *, html: bool) -> bytes:
        """Write a batch: one message for each entry, or one piece of a page for all of them."""
        if not html:
            return b"".join(
                message(seq=one.seq, data=as_json(streamed(one, self._names, self._sessions))) for one in batch
            )
        last = batch[-1].seq
        try:
            return message(seq=last, data=await self._painter.paint(batch))
        except Exception:
            log.exception("entries %s to %s could not be painted", batch[0].seq, last)
            return message(seq=last, event="unpainted", data=str(batch[0].seq))  # one bad row must not end the stream
