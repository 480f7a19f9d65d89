"""Watches the disk while an agent, a check or a setup writes: walls limit what it may see, not how much it may fill."""

import asyncio
import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from midwatch.errors import Unavailable
from midwatch.terms.figures import many
from midwatch.workshop.sandbox.deep_folders import everything_below

EVERY_SECONDS = 2.0
RESTS = 50
"""Counting takes at most this share of the time: one part in fifty."""
MIB = 1024**2
LEAST_FREE_FILES = 10_000
"""Files that a disk must still be able to hold; some kinds of disk have no such limit."""
UNLIMITED = 1 << 60


@dataclass(frozen=True, slots=True)
class Watch:
    """How full the disk may become, and how much one command may write."""

    folder: Path
    floor: int
    """Bytes that must stay free."""
    most: int
    """Bytes the folders may hold."""
    most_files: int = UNLIMITED
    """Files and folders they may hold."""
    also: tuple[Path, ...] = ()
    """Other folders that the command writes to."""
    who: str = "The job"
    there: tuple[int, int] = (0, 0)
    """Bytes and files that were there before and do not count."""

    def above_what_is_there(self) -> "Watch":
        """Count only what is written from now on: a large checkout is not the command's doing."""
        return replace(self, there=self._held())

    async def until_too_much(self) -> str:
        """Wait until there is too little space, or the folders have grown too much; return which."""
        at_first = _free(self.folder)
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            free, free_files = _free(self.folder)
            if free < self.floor:
                return f"The disk has only {free // MIB} MiB left, so {self._noun} was stopped."
            if free_files < LEAST_FREE_FILES:
                return f"The disk can hold only {many(free_files)} more files, so {self._noun} was stopped."
            # Counting a large tree takes a while: done at once where the disk as a whole lost that much, else in a
            # small share of the time, because what others delete hides what the command writes.
            lost = at_first[0] - free > self.most or at_first[1] - free_files > self.most_files
            if lost or loop.time() >= due:
                began = loop.time()
                try:
                    held = await asyncio.to_thread(self._held)
                except Unavailable:
                    return f"{self.who} moved its folders about so that they could not be counted, so it was stopped."
                if over := self._over(*held):
                    return over
                at_first, due = (free, free_files), loop.time() + (loop.time() - began) * RESTS

    @property
    def _noun(self) -> str:
        return self.who[:1].lower() + self.who[1:]

    def _held(self) -> tuple[int, int]:
        weights = [weigh(folder) for folder in (self.folder, *self.also)]
        return sum(one.bytes for one in weights), sum(one.files for one in weights)

    def _over(self, size: int, files: int) -> str:
        if size - self.there[0] > self.most:
            return f"{self.who} wrote more than {self.most // MIB} MiB, so it was stopped."
        if files - self.there[1] > self.most_files:
            return f"{self.who} wrote more than {many(self.most_files)} files, so it was stopped."
        return ""


def _free(folder: Path) -> tuple[int, int]:
    facts = os.statvfs(folder)
    return shutil.disk_usage(folder).free, facts.f_favail if facts.f_files else UNLIMITED


class Weight(NamedTuple):
    """What a folder takes of a disk."""

    bytes: int
    newest: float
    """When something in it changed last."""
    files: int
    """Files and folders, each name of a file for itself."""


def weigh(place: Path) -> Weight:
    """Sum up the disk a folder takes, and find its newest change; links are counted, not followed."""
    size, newest, count, seen = 0, 0.0, 0, set[tuple[int, int]]()
    for facts in _facts(place):
        count += 1
        if stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1:
            if (facts.st_dev, facts.st_ino) in seen:
                continue
            seen.add((facts.st_dev, facts.st_ino))
        size += facts.st_blocks * 512
        newest = max(newest, facts.st_ctime)
    return Weight(size, newest, count)


def _facts(place: Path) -> Iterator[os.stat_result]:
    with contextlib.suppress(OSError):
        yield place.lstat()
    yield from (found.facts for found in everything_below(place))
