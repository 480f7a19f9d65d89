"""Removes what an ended agent said once all of it was read: raw output may hold secrets and should not lie about."""

import asyncio
import contextlib
import shutil
from dataclasses import replace
from pathlib import Path

from midwatch.errors import Misuse
from midwatch.workshop.holding import records
from midwatch.workshop.holding.ending import read_ending, write_ending


async def put_away(place: Path) -> None:
    """Delete an epoch's output, and its last words from the verdict; who held it and how it ended stay.

    Any number of times; what a crash left half deleted goes the next time.
    """
    await asyncio.to_thread(_put_away, place)


def _put_away(place: Path) -> None:
    ending = read_ending(place)
    if ending is None:
        raise Misuse(
            f"The agent of {place} has not ended, so its output cannot be removed yet.",
            hint="Wait for its end, or stop it, and read its output first.",
        )
    for name in (records.OUT, records.ERR):
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(place / name)
    for name in (records.SOCKET, records.RESERVE):
        (place / name).unlink(missing_ok=True)
    if ending.last_words or ending.last_errors:
        write_ending(place, replace(ending, last_words="", last_errors=""))
