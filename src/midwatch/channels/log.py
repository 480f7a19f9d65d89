"""The log channel: one line per notice in a file, each once."""

import asyncio
import json
import os
from pathlib import Path

from midwatch.terms.records import NoticeRow


class LogChannel:
    """Appends to `notices.log` in the data folder."""

    name = "log"

    def __init__(self, file: Path) -> None:
        self._file = file

    async def send(self, notice: NoticeRow) -> None:
        """Write the line unless it is there already: after a crash the same notice may come twice."""
        await asyncio.to_thread(self._send, notice)

    def _send(self, notice: NoticeRow) -> None:
        mark = f'"{notice.id}"'
        if self._file.exists():
            with self._file.open(encoding="utf-8", errors="replace") as lines:
                if any(mark in line for line in lines):
                    return
        line = {"id": notice.id, "at": notice.created_at.isoformat(), "tier": notice.tier, "text": notice.text}
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
