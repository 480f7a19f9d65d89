"""One stream of output on disk: the head and the tail are kept, and the cut between them is marked.

A stream is a folder of segments, each named for its position in the stream. Every byte is written to
the disk before it is reported, so a killed holder loses none; a gap between segments is a cut, whether the cap
made it or a full disk.
"""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

SMALLEST_SEGMENT, LARGEST_SEGMENT = 1 << 12, 1 << 20
CHUNK = 1 << 16


@dataclass(frozen=True)
class LogPiece:
    """Some bytes of a stream, and the position after them."""

    data: bytes
    after: int
    cut: int = 0
    """How many bytes are missing here; `data` is then the line that says so."""


class LogWriter:
    """Writes one stream and drops its middle."""

    def __init__(self, folder: Path, head: int, tail: int) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder = folder
        self._head, self._tail = head, tail
        self._segment = max(SMALLEST_SEGMENT, min(LARGEST_SEGMENT, tail // 4, head or tail))
        self._file = -1
        self._room = 0
        self._kept: list[tuple[int, int]] = []  # begin and end of each tail segment that may be dropped later
        self.size = _end(folder)  # the guardian continues where a killed holder stopped

    def add(self, data: bytes) -> None:
        """Write the next piece of output; a full disk costs lines, never the agent."""
        while data:
            taken = self._write(data[: self._room] if self._room else data[: self._open_next()])
            data = data[taken:]
        self._forget()

    def close(self) -> None:
        """Flush what was written safely to the disk."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.fsync(self._file)
            os.close(self._file)
            self._file = -1
        self._room = 0

    def _open_next(self) -> int:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        in_head = self.size < self._head
        self._room = min(self._segment, self._head - self.size) if in_head else self._segment
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        with contextlib.suppress(OSError):
            self._file = os.open(self._folder / f"{self.size:016d}", flags, 0o600)
        if not in_head:
            self._kept.append((self.size, self.size + self._room))
        return self._room

    def _write(self, data: bytes) -> int:
        """Write what the disk accepts, and count all of it: stream positions are positions in the agent's output."""
        written = 0
        with contextlib.suppress(OSError):
            written = os.write(self._file, data)
        self._room -= len(data)
        if written < len(data):
            self._room = 0  # the rest is lost, so the next segment begins after the gap
        self.size += len(data)
        return len(data)

    def _forget(self) -> None:
        while self._kept and self._kept[0][1] <= self.size - self._tail:
            begin, _ = self._kept.pop(0)
            with contextlib.suppress(OSError):
                (self._folder / f"{begin:016d}").unlink()


def read_piece(folder: Path, after: int) -> LogPiece | None:
    """Read on from a position in the stream: bytes, the line that marks a cut, or None when there is no more yet."""
    while True:
        begins = _segments(folder)
        here = [begin for begin in begins if begin <= after]
        later = [begin for begin in begins if begin > after]
        try:
            data = _read(folder / f"{here[-1]:016d}", after - here[-1]) if here else b""
        except FileNotFoundError:
            continue  # it was dropped between listing and opening
        if data:
            return LogPiece(data, after + len(data))
        if not later:
            return None
        missing = later[0] - after
        return LogPiece(f"\n[midwatch: {missing} bytes left out here]\n".encode(), later[0], cut=missing)


def last_words(folder: Path, count: int) -> str:
    begins = _segments(folder)
    words = b""
    for begin in reversed(begins):
        with contextlib.suppress(OSError):
            path = folder / f"{begin:016d}"
            words = _read(path, max(0, path.stat().st_size - (count - len(words))), count) + words
        if len(words) >= count:
            break
    return words[-count:].decode(errors="replace")


def _segments(folder: Path) -> list[int]:
    try:
        return sorted(int(name) for name in os.listdir(folder) if name.isdigit())  # noqa: PTH208 - names only
    except FileNotFoundError:
        return []


def _end(folder: Path) -> int:
    begins = _segments(folder)
    return begins[-1] + (folder / f"{begins[-1]:016d}").stat().st_size if begins else 0


def _read(path: Path, offset: int, count: int = CHUNK) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(count)
