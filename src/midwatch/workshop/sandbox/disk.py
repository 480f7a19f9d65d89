"""Watches the disk while an agent writes: walls limit what it may see, not how much it may fill."""

import asyncio
import shutil
from dataclasses import dataclass
from pathlib import Path

from midwatch.workshop.upkeep.kept_checkouts import weigh

EVERY_SECONDS = 2.0
RESTS = 50
"""Counting takes at most this share of the time: one part in fifty."""
MIB = 1024**2


@dataclass(frozen=True, slots=True)
class Watch:
    """How full the disk may become, and how large one room may grow."""

    folder: Path
    floor: int
    """Bytes that must stay free."""
    most: int
    """Bytes the folder may hold."""

    async def until_too_much(self) -> str:
        """Wait until there is too little space, or the folder has grown too much; return which."""
        free_at_first = shutil.disk_usage(self.folder).free
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            free = shutil.disk_usage(self.folder).free
            if free < self.floor:
                return f"The disk has only {free // MIB} MiB left, so the job was stopped."
            # Counting a large tree takes a while: done at once where the disk as a whole lost that much, else in a
            # small share of the time, because what others delete hides what the job writes.
            if free_at_first - free > self.most or loop.time() >= due:
                began = loop.time()
                size, _ = await asyncio.to_thread(weigh, self.folder)
                if size > self.most:
                    return f"The job wrote more than {self.most // MIB} MiB, so it was stopped."
                free_at_first, due = free, loop.time() + (loop.time() - began) * RESTS
