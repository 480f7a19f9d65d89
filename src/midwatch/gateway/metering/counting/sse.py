"""Parses server-sent events from bytes that are cut anywhere."""

from typing import Final

LARGEST: Final = 16 * 1024 * 1024
"""A longer event is skipped; events with usage are far shorter."""


class SseReader:
    """Parses events as they come; yields the data of each as soon as it is complete."""

    def __init__(self, largest: int = LARGEST) -> None:
        self._largest = largest
        self._parts: list[bytes] = []
        self._data: list[bytes] = []
        self._held = 0
        self._too_large = False
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take more bytes and yield the events they complete."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        *ended, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        done = []
        for piece in ended:
            self._keep(piece)
            event = self._line(b"".join(self._parts))
            self._parts.clear()
            if event is not None:
                done.append(event)
        self._keep(rest)
        return done

    def end(self) -> list[bytes]:
        """Return the last event, which lacks the empty line that should follow it."""
        if self._parts:
            self._line(b"".join(self._parts))
            self._parts.clear()
        event = self._line(b"")
        return [] if event is None else [event]

    def _keep(self, piece: bytes) -> None:
        self._held += len(piece)
        if self._held > self._largest:
            self._too_large = True
            self._parts.clear()
            self._data.clear()
        elif piece:
            self._parts.append(piece)

    def _line(self, line: bytes) -> bytes | None:
        if line:
            if line.startswith(b"data:") and not self._too_large:
                self._data.append(line[5:].removeprefix(b" "))
            return None
        event = b"\n".join(self._data) if self._data and not self._too_large else None
        self._data.clear()
        self._held, self._too_large = 0, False
        return event
