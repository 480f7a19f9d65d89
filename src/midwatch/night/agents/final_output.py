"""Keeps the end of an agent's output for a person, a brain and the next try."""

import asyncio
from pathlib import Path
from typing import Final

from midwatch.ports.journal import Blobs
from midwatch.ports.workspace import Rooms
from midwatch.terms.records import JobRow
from midwatch.views.text.plain import harmless

MOST_BYTES: Final = 8_000
MOST_LINES: Final = 60


async def last_words(rooms: Rooms, job: JobRow) -> str:
    """Read the end of what a job's agent wrote: its log, and its errors where they are kept apart."""
    errors = await asyncio.to_thread(_tail, rooms.log(job.id, f"agent-errors-{job.epoch}"))
    output = await asyncio.to_thread(_tail, rooms.log(job.id, "agent"))
    return "\n".join(part for part in (output, errors) if part)


async def kept(blobs: Blobs, words: str) -> str:
    """Store the output as a blob; empty output is not stored."""
    return await blobs.keep(words.encode(errors="replace")) if words else ""


async def last_head(rooms: Rooms, job: JobRow) -> str:
    """Return the commit of the last checkout that was worked in; empty if there is none."""
    for epoch in dict.fromkeys((*range(job.epoch, 0, -1), job.work_epoch)):
        if found := await rooms.head_so_far(job.id, epoch):
            return found
    return ""


def _tail(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - MOST_BYTES))
        text = file.read().decode("utf-8", "replace")
    return harmless("\n".join(text.splitlines()[-MOST_LINES:])).strip()
