"""Counts one answer from its bytes, even if they are split, compressed or cut off."""

import json
from collections.abc import Set
from typing import Any

from midwatch.gateway.metering.calls import NO_USAGE, TokenUsage
from midwatch.gateway.metering.counting.decompression import Decompressor, UnreadableEncoding
from midwatch.gateway.metering.counting.json_stream import JsonStreamReader
from midwatch.gateway.metering.counting.sse import SseReader
from midwatch.gateway.metering.counting.tally import UsageTally
from midwatch.gateway.metering.counting.usage_fields import EVENTS, WHOLES
from midwatch.gateway.metering.providers import PAID, Api

DONE = b"[DONE]"
"""The last event of a chat completion."""


class UsageCounter:
    """Reads an answer on its way to the job; never fails, and always has the count so far."""

    def __init__(self, api: Api, content_type: str = "", encoding: str = "") -> None:
        self._api = api
        self._tally = UsageTally()
        self._events: SseReader | None = None
        self._documents: JsonStreamReader | None = None
        try:
            self._decoder: Decompressor | None = Decompressor(encoding)
        except UnreadableEncoding:
            self._decoder = None
        kind = content_type.partition(";")[0].strip().lower()
        if kind == "text/event-stream":
            self._events = SseReader()
        elif kind.endswith("json"):
            self._documents = JsonStreamReader()

    @property
    def usage(self) -> TokenUsage:
        return self._tally.usage if self._api in PAID else NO_USAGE

    @property
    def model(self) -> str:
        """Return the provider's name for the model; empty until it is known."""
        return self._tally.model

    @property
    def reported_input(self) -> bool:
        """Whether the provider reported the input; otherwise the caller estimates it."""
        return self._tally.reported_input or self._api not in PAID

    @property
    def answer(self) -> str:
        """Return the provider's name for the answer, where a later request may refer to it."""
        return self._tally.answer

    @property
    def items(self) -> Set[str]:
        """Return the provider's names for its parts."""
        return self._tally.items

    @property
    def ended(self) -> bool:
        """Whether the provider has reported the end of the answer with all that it has used."""
        return self._tally.ended

    def served(self, terms: str) -> None:
        """Record how the provider says in the head of its answer that it serves it."""
        self._tally.served(terms)

    def feed(self, data: bytes) -> None:
        """Take more bytes of the answer."""
        if self._api not in PAID or not data:
            return
        clear = self._clear(data)
        if clear is None:
            self._tally.came(len(data))
            return
        self._choose(clear)
        if self._events is not None:
            for event in self._events.feed(clear):
                self._event(event)
        elif self._documents is not None:
            for document, characters in self._documents.feed(clear):
                self._tally.came(characters)
                self._document(document)
            self._tally.passing = self._documents.characters

    def end(self) -> None:
        """Record that nothing more will come."""
        for event in self._events.end() if self._events is not None else ():
            self._event(event)

    def _clear(self, data: bytes) -> bytes | None:
        if self._decoder is None:
            return None
        try:
            return self._decoder.feed(data)
        except UnreadableEncoding:
            self._decoder = None
            return None

    def _choose(self, clear: bytes) -> None:
        """Check the first character where the provider did not state the content type."""
        if self._events is None and self._documents is None and clear.strip():
            if clear.lstrip()[:1] in {b"{", b"["}:
                self._documents = JsonStreamReader()
            else:
                self._events = SseReader()

    def _event(self, data: bytes) -> None:
        if data.strip() == DONE:
            self._tally.ends()
        try:
            event: Any = json.loads(data)
        except (ValueError, RecursionError):
            return
        if isinstance(event, dict):
            EVENTS[self._api](self._tally, event)

    def _document(self, document: Any) -> None:
        if isinstance(document, dict):
            WHOLES[self._api](self._tally, document)
