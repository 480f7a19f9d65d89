"""One connection of a client that may be slow, odd or one of very many: its head and body end in time, or it does."""

import asyncio
import resource
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_WITHIN = 15.0
"""Seconds from a connection's beginning, or a request's first byte, to the end of its head."""
BODY_WITHIN = 60.0
"""Seconds for the rest of a request: it may have a megabyte."""
MOST_OF_ONE_ADDRESS = 200
"""A proxy in front of the pages is one address, with all who use it."""
MOST_AT_ONCE = 400
LONGEST_TARGET = 4000
"""Longer than any page's address, and a path that long is no file name."""


OPEN: Counter[str] = Counter()
"""The pages' open connections by address."""


class StrictConnection(h11.Connection):
    """Refuses what two programs could read in two ways, and what is too long to mean anything."""

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = [name for name, _ in event.headers]
            if b"content-length" in names and b"transfer-encoding" in names:
                raise h11.RemoteProtocolError("a request has a length or chunks, not both")
            if len(event.target) > LONGEST_TARGET:
                raise h11.RemoteProtocolError("the address is too long", error_status_hint=414)
        return event


def most_at_once() -> int:
    """Leave half of the descriptors to the owner's socket, the store and the agents."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_AT_ONCE if soft == resource.RLIM_INFINITY else min(MOST_AT_ONCE, soft // 2)


class PatientConnection(H11Protocol):
    """Ends a request that does not arrive in time, for a socket that only its owner can open."""

    _deadline: asyncio.TimerHandle | None = None
    _awaited: object = None

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        self.conn = StrictConnection(h11.SERVER, self.conn._max_incomplete_event_size)  # noqa: SLF001  as uvicorn set it

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await(h11.IDLE)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        state = self.conn.their_state
        self._await(state if state in {h11.IDLE, h11.SEND_BODY} else None)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # Between requests uvicorn's own, shorter patience counts, until the next request begins.
        self._await(h11.IDLE if self.conn.trailing_data[0] else None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._await(None)
        super().connection_lost(exc)

    def _await(self, state: object) -> None:
        """Start the time for a part of a request; more bytes of the same part do not start it again."""
        if state is self._awaited:
            return
        self._awaited = state
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if state is not None:
            seconds = HEAD_WITHIN if state is h11.IDLE else BODY_WITHIN
            self._deadline = self.loop.call_later(seconds, self.transport.abort)


class CountedConnection(PatientConnection):
    """One of the pages' connections, of which there are only so many, in all and from one address."""

    _address: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        address = str((transport.get_extra_info("peername") or ("",))[0])
        if OPEN.total() >= most_at_once() or OPEN[address] >= MOST_OF_ONE_ADDRESS:
            transport.abort()
            return
        self._address = address
        OPEN[address] += 1
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if self._address is not None:
            super().data_received(data)

    def eof_received(self) -> None:
        if self._address is not None:
            super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._address is None:
            return
        OPEN[self._address] -= 1
        if not OPEN[self._address]:
            del OPEN[self._address]
        super().connection_lost(exc)
