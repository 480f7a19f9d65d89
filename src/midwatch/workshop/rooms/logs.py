"""Logs for people: secrets are redacted on writing, and only the head and the tail of a long log are kept."""

from pathlib import Path

from midwatch.ports.redaction import NewScrub
from midwatch.rules.recovery.failing_output import EACH_END, two_ends

LOG_LIMIT = 8 * 1024**2
TAIL_BYTES = 8_000


class Untouched:
    """Redacts nothing: for a Midwatch without secrets, and for tests about other things."""

    def feed(self, chunk: bytes) -> bytes:
        return chunk

    def end(self) -> bytes:
        """Return nothing more."""
        return b""


class CappedLog:
    """Writes the head as it comes and keeps the newest output in memory once half the limit is used."""

    def __init__(
        self, path: Path, *, scrub: NewScrub = Untouched, limit: int = LOG_LIMIT, again_from: int | None = None
    ) -> None:
        """Open a log to append to; `again_from` is where output begins that a killed server may have half written."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        size = path.stat().st_size if path.exists() else 0
        self._begins = size if again_from is None else min(again_from, size)
        # The same output is redacted the same way, so what is already written is skipped and readers see no seam.
        self._passed_over = size - self._begins
        self._file = path.open("ab", buffering=0)
        self._scrub = scrub()
        self._new_scrub = scrub
        self._head_room = limit // 2
        self._tail_room = limit - limit // 2
        self._tail = bytearray()
        self._left_out = 0

    def add(self, data: bytes) -> None:
        """Write the next piece of output."""
        head = data[: self._head_room]
        self._head_room -= len(head)
        self._write(self._scrub.feed(head))
        # The middle is dropped as it came: what is not kept needs no redaction.
        self._tail += data[len(head) :]
        over = len(self._tail) - self._tail_room
        if over > 0:
            del self._tail[:over]
            self._left_out += over

    def close(self) -> None:
        """Write the tail, after a line saying how much is missing before it."""
        if self._left_out:
            self._write(self._scrub.end())
            self._write(f"\n[midwatch: {self._left_out} bytes left out here]\n".encode())
            self._scrub = self._new_scrub()
            # The first line of the tail may be the end of a secret that began before it.
            self._tail = self._tail[self._tail.find(b"\n") + 1 :]
        self._write(self._scrub.feed(bytes(self._tail)))
        self._write(self._scrub.end())
        self._file.close()

    def leave(self) -> None:
        """Stop in the middle: the next server continues from here, so nothing half-decided is added now."""
        self._file.close()

    def tail(self) -> str:
        with self._path.open("rb") as file:
            end = file.seek(0, 2)
            file.seek(max(self._begins, end - TAIL_BYTES))
            return file.read().decode(errors="replace")

    def two_ends(self) -> str:
        """Read a bounded piece of each end of this output, however long it is."""
        with self._path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(self._begins)
            begin = file.read(EACH_END)
            rest = max(self._begins + len(begin), size - EACH_END)
            file.seek(rest)
            return two_ends(begin, file.read(EACH_END), rest - self._begins - len(begin))

    def _write(self, data: bytes) -> None:
        there, self._passed_over = self._passed_over, max(0, self._passed_over - len(data))
        data = data[there:]
        # A full disk must not end the command: the verdict matters more than the log.
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError:
            return
