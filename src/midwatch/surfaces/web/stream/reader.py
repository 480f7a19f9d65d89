"""One reader of the event stream, and how a message is written for it."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping

from pydantic import JsonValue

WAITING_MOST = 256
"""How many messages a reader may be behind before it is disconnected; it reconnects with its last id."""
LINES = re.compile(r"\r\n|\r|\n")


def message(*, seq: int | None = None, event: str = "", data: str | None = None, retry: int | None = None) -> bytes:
    """Write one server-sent event; without data it only moves the reader's place."""
    fields = [f"retry: {retry}"] if retry is not None else []
    fields += [f"id: {seq}"] if seq is not None else []
    fields += [f"event: {event}"] if event else []
    fields += [f"data: {line}" for line in LINES.split(data)] if data else []
    return ("\n".join(fields) + "\n\n").encode()


def as_json(value: Mapping[str, JsonValue]) -> str:
    """Write a message's data on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


StillReads = Callable[[], Awaitable[bool]]
"""Asks whether who reads may still read."""


class Reader:
    """One reader: what waits to be sent to it, and whether it is still connected."""

    __slots__ = ("_waiting", "_wake_up", "html", "over", "since", "still")

    def __init__(self, *, html: bool, still: StillReads) -> None:
        self.html = html
        self.still = still
        self.over = False
        self.since = time.monotonic()
        self._waiting: list[bytes] = []
        self._wake_up: asyncio.Future[None] | None = None

    def put(self, chunk: bytes) -> bool:
        """Queue a chunk; return whether the reader still keeps up."""
        if len(self._waiting) >= WAITING_MOST:
            self.end()
            return False
        self._waiting.append(chunk)
        self._wake_now()
        return True

    def end(self) -> None:
        """End the stream; what was not sent yet comes from the journal when the reader reconnects."""
        self.over = True
        self._waiting.clear()
        self._wake_now()

    def _wake_now(self) -> None:
        if self._wake_up is not None and not self._wake_up.done():
            self._wake_up.set_result(None)

    async def take(self) -> bytes:
        """Wait for everything queued, in one piece; nothing means that it is over."""
        while not self._waiting and not self.over:
            self._wake_up = asyncio.get_running_loop().create_future()
            await self._wake_up
        taken, self._waiting = self._waiting, []
        return taken[0] if len(taken) == 1 else b"".join(taken)
