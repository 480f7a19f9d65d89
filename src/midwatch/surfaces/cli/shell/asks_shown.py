"""Which asks each terminal has printed: an answer is for the question that it showed, not for a newer one."""

import contextlib
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TextIO

from midwatch.surfaces.cli.shell import client

FILE: Final = "asks-shown.json"
MOST_TERMINALS: Final = 50
MOST_ASKS: Final = 200
NONE: Final = "no terminal"


def remember(rows: Iterable[dict[str, Any]]) -> None:
    """Note that these asks were printed here, all of each, with the hash of what was shown.

    Call it after printing. What a person sends into a file or another program is not shown to them; a script without
    any terminal reads what it is given.
    """
    if _terminal() != NONE and not _is_terminal(sys.stdout):
        return
    printed = {row["id"]: row["shown_hash"] for row in rows if row["state"] == "open"}
    if not printed:
        return
    known, here = _read(), _terminal()
    mine = {name: value for name, value in known.pop(here, {}).items() if name not in printed} | printed
    known[here] = dict(list(mine.items())[-MOST_ASKS:])
    path = _path()
    whole = path.with_name(f"{FILE}.{os.getpid()}")
    with contextlib.suppress(OSError):  # a terminal that cannot remember is shown the question again
        whole.write_text(json.dumps(dict(list(known.items())[-MOST_TERMINALS:])))
        whole.replace(path)


def was_shown(row: dict[str, Any]) -> bool:
    """Whether this terminal printed the ask as it is now."""
    return bool(_read().get(_terminal(), {}).get(row["id"]) == row["shown_hash"])


def _path() -> Path:
    return client.home() / FILE


def _read() -> dict[str, dict[str, str]]:
    try:
        found = json.loads(_path().read_text())
    except (OSError, ValueError):
        return {}
    whole = isinstance(found, dict) and all(isinstance(one, dict) for one in found.values())
    return found if whole else {}


def _terminal() -> str:
    """Name the terminal with its login session, because names are used again; scripts of one user share a place."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            return f"{os.ttyname(stream.fileno())} {os.getsid(0)}"
    return NONE


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream ends at a terminal; a closed one does not."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return stream is not None and stream.isatty()
    return False
