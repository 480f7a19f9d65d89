"""The log channel: one line per notice in a file, each once.

Its own module: only `compose` imports an implementation of a port.
"""

import asyncio
import json
import os
import re
import threading
from pathlib import Path

from midwatch.terms.records import NoticeRow

ID = re.compile(rb'"id": "([^"]*)"')


class LogChannel:
    """Appends to `notices.log` in the data folder. Notices that come together share one wait for the disk."""

    name = "log"

    def __init__(self, file: Path) -> None:
        self._file = file
        self._waiting: list[NoticeRow] = []
        self._writing = asyncio.Lock()
        self._guard = threading.Lock()  # a cancelled caller leaves its thread behind
        self._ids: set[str] = set()
        self._read_bytes = 0

    async def send(self, notice: NoticeRow) -> None:
        """Write the line unless it is there already: after a crash the same notice may come twice."""
        self._waiting.append(notice)
        async with self._writing:
            if notice not in self._waiting:
                return  # written with the one before
            some, self._waiting = self._waiting, []
            try:
                await asyncio.to_thread(self._write, some)
            except BaseException:
                self._waiting += [one for one in some if one != notice]
                raise

    def _write(self, some: list[NoticeRow]) -> None:
        with self._guard, self._file.open("a+b") as file:
            file.seek(self._read_bytes)  # only what was added since the last time, by whatever process
            self._ids.update(found.decode() for found in ID.findall(file.read()))
            new = {one.id: one for one in some if one.id not in self._ids}
            file.write(b"".join(_line(one) for one in new.values()))
            file.flush()
            os.fsync(file.fileno())
            self._read_bytes = file.tell()
            self._ids.update(new)


def _line(notice: NoticeRow) -> bytes:
    line = {"id": notice.id, "at": notice.created_at.isoformat(), "tier": notice.tier, "text": notice.text}
    return f"{json.dumps(line, ensure_ascii=False)}\n".encode()
