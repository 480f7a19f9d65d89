"""Reads an agent's log from a place in the file, in whole lines."""

from pathlib import Path
from typing import BinaryIO, Final

CHUNK: Final = 64 * 1024
LONGEST_LINE: Final = 8 * 1024**2
"""No message that people want to read is longer."""


def read_on(path: Path, place: int, *, ended: bool = False) -> tuple[int, str]:
    """Read whole lines from a place, at most one chunk; a file that became shorter is read from its start.

    Once the writer has ended, a last line without its break is read too.
    """
    if not path.exists():
        return place, ""
    with path.open("rb") as file:
        if path.stat().st_size < place:
            place = 0
        file.seek(place)
        raw = file.read(CHUNK)
    whole = raw.rfind(b"\n") + 1
    if len(raw) == CHUNK:
        whole = whole or CHUNK  # a line that never ends is shown in pieces
    elif ended:
        whole = len(raw)
    return place + whole, raw[:whole].decode(errors="replace")


def read_lines(path: Path, place: int, *, ended: bool = False) -> tuple[int, list[bytes | int], bool]:
    """Read the next whole lines, of one that is too long only its length; say whether there are no more for now.

    Unlike `read_on` it never cuts a line: half a message of a protocol cannot be read.
    """
    if not path.exists():
        return place, [], True
    with path.open("rb") as file:
        file.seek(place)
        raw = file.read(CHUNK)
        last = len(raw) < CHUNK
        if not last and b"\n" not in raw:
            return _long_line(file, place, raw, ended=ended)
    whole = len(raw) if last and ended else raw.rfind(b"\n") + 1
    return place + whole, [*raw[:whole].splitlines()], last


def read_between(path: Path, begin: int, end: int) -> list[bytes]:
    """Read the lines between two places."""
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(begin)
        return file.read(max(0, end - begin)).splitlines()


def _long_line(file: BinaryIO, place: int, begun: bytes, *, ended: bool) -> tuple[int, list[bytes | int], bool]:
    parts, size = [begun], len(begun)
    while more := file.readline(CHUNK):
        size += len(more)
        if size <= LONGEST_LINE:
            parts.append(more)
        if more.endswith(b"\n"):
            break
    else:
        if not ended:
            return place, [], True  # it is still being written
    return place + size, [b"".join(parts) if size <= LONGEST_LINE else size], False
