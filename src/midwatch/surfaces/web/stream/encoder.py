"""Entries as bytes for the event stream: JSON for programs, HTML for pages, each made once for all readers."""

import logging
from collections.abc import Awaitable, Callable, Sequence

from midwatch.journal.entry import Entry
from midwatch.surfaces.queries.names import NameBook
from midwatch.surfaces.web.stream.reader import as_json, message
from midwatch.views.entries.sse import PING, connected, streamed

PINGS = {False: message(data=as_json(PING)), True: b": ping\n\n"}
RETRY_MS = 1000
log = logging.getLogger("midwatch")


Paint = Callable[[Sequence[Entry]], Awaitable[str]]
"""Makes one piece of HTML, the same for every reader, that updates a page to the last of these entries."""


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
