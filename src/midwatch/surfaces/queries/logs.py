"""Reads an agent's log from a place in the file, in whole lines."""

from pathlib import Path
from typing import Final

CHUNK: Final = 64 * 1024


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
