"""An agent's log as it grows: whole lines, made harmless, by the place in the file they end at."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Final

from markupsafe import Markup, escape

from midwatch.surfaces.queries.logs import CHUNK, read_on
from midwatch.views.text.plain import harmless

TAIL_LINES: Final = 200
LOOK_SECONDS: Final = 0.5
PING_LOOKS: Final = 40
"""A ping is sent after this many reads without anything new."""
LONGEST_LINE: Final = 2000
_BREAKS = re.compile(r"\r\n|\n|\r")


def read_tail(path: Path) -> tuple[int, Markup]:
    """Read the last lines there are, and return where they end."""
    if not path.exists():
        return 0, Markup()
    size = path.stat().st_size
    place, text = read_on(path, max(0, size - CHUNK))
    lines = as_lines(text)
    cut = lines[1:] if size > CHUNK else lines  # the first may have lost its beginning
    return place, drawn(cut[-TAIL_LINES:])


def as_lines(text: str) -> list[str]:
    """Split a log; a carriage return of a progress bar ends a line too."""
    found = _BREAKS.split(text)
    return found[:-1] if found and not found[-1] else found


def readable(line: str) -> str:
    """Return the text of a line that is an agent's message; any other line is shown as it is."""
    if not line.startswith("{"):
        return line
    try:
        said = json.loads(line)
    except ValueError:
        return line
    words = said.get("text") if isinstance(said, dict) else None
    return words if isinstance(words, str) else line


def drawn(lines: list[str]) -> Markup:
    """Write lines so that they cannot run, hide or reorder text."""
    return Markup("").join(
        Markup("<div>{}</div>").format(escape(one[:LONGEST_LINE]))
        for line in lines
        for one in harmless(readable(line)).split("\n")  # a break left inside would end the stream's message
    )


async def follow(path: Path, place: int, standing: Callable[[], Awaitable[tuple[str, bool]]]) -> AsyncIterator[str]:
    """Send what is written from a place, report when the job moves, and end with it."""
    before, _ = await standing()
    quiet = 0
    while True:
        now, over = await standing()  # read before the file: an ended job has written everything
        after, text = await asyncio.to_thread(read_on, path, place)
        if now != before:
            before = now
            yield "event: moved\ndata: yes\n\n"
        if after != place:
            place, quiet = after, 0
            yield appended(as_lines(text), place)
            continue
        if over:
            yield "event: ended\ndata: yes\n\n"
            return
        quiet += 1
        if quiet % PING_LOOKS == 0:
            yield ": still here\n\n"
        await asyncio.sleep(LOOK_SECONDS)


def appended(lines: list[str], place: int) -> str:
    """Write one message that adds lines to the page; each is one line of data, since a break would end it."""
    # htmx reads <hx-...> in the text of a message before it parses it; escaped text has no such tag.
    return f'id: {place}\ndata: <hx-partial hx-target="#log" hx-swap="beforeend">{drawn(lines)}</hx-partial>\n\n'
