"""An agent's stream on its job's page, and its raw log: lines made harmless, as they come."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Final

from markupsafe import Markup, escape

from midwatch.surfaces.queries.agent_streams import TAIL_LINES, StreamReader
from midwatch.surfaces.queries.logs import CHUNK, read_on
from midwatch.surfaces.web.stream.reader import StillReads
from midwatch.views.pages.agent_stream import StreamLine
from midwatch.views.text.plain import harmless

LOOK_SECONDS: Final = 0.5
PING_LOOKS: Final = 40
"""A ping is sent after this many reads without anything new."""
LONGEST_LINE: Final = 2000
Standing = Callable[[], Awaitable[tuple[str, bool]]]
More = Callable[[], Awaitable[tuple[str, str]]]
"""Reads on: the new lines as HTML, empty if there are none, and the place after them."""
_BREAKS = re.compile(r"\r\n|\n|\r")


def stream_html(lines: list[StreamLine]) -> Markup:
    """Draw lines of a stream: when, what, to what, a few more words, and the cost so far."""
    return Markup("").join(_row(line) for line in lines)


def _row(line: StreamLine) -> Markup:
    clock = Markup('<time datetime="{}" data-as="second">{:%H:%M:%S}</time>')
    note = Markup(" <small>{}</small>").format(line.note) if line.note else ""
    spent = Markup('<small class="spent" title="The cost so far">{}</small>').format(line.spent) if line.spent else ""
    return Markup('<div class="did did-{}{}"><span>{}</span><b>{}</b><p>{}{}</p>{}</div>').format(
        line.does.value,
        " bad" if line.bad else "",
        clock.format(line.at.isoformat(), line.at) if line.at else "",
        line.word,
        Markup("<br>").join(line.text.split("\n")),  # a break left inside would end the stream's message
        note,
        spent,
    )


def raw_tail(path: Path) -> tuple[int, Markup]:
    """Read the last lines of a raw log, and return where they end."""
    if not path.exists():
        return 0, Markup()
    size = path.stat().st_size
    place, text = read_on(path, max(0, size - CHUNK))
    lines = as_lines(text)
    cut = lines[1:] if size > CHUNK else lines  # the first may have lost its beginning
    return place, raw_html(cut[-TAIL_LINES:])


def as_lines(text: str) -> list[str]:
    """Split a log; a carriage return of a progress bar ends a line too."""
    found = _BREAKS.split(text)
    return found[:-1] if found and not found[-1] else found


def raw_html(lines: list[str]) -> Markup:
    """Write raw lines so that they cannot run, hide or reorder text."""
    return Markup("").join(
        Markup("<div>{}</div>").format(escape(one[:LONGEST_LINE]))
        for line in lines
        for one in harmless(line).split("\n")  # a break left inside would end the stream's message
    )


def raw_from(path: Path, place: int) -> More:
    """Read a raw log from a place on."""
    at = place

    async def more() -> tuple[str, str]:
        nonlocal at
        before = at
        at, text = await asyncio.to_thread(read_on, path, at)
        return raw_html(as_lines(text)) if at != before else "", str(at)

    return more


def stream_from(reader: StreamReader) -> More:
    """Read a stream on."""

    async def more() -> tuple[str, str]:
        lines, _ = await reader.more()
        return stream_html(lines), reader.at

    return more


async def follow(more: More, standing: Standing, still: StillReads) -> AsyncIterator[str]:
    """Send what is new, report when the job moves, and end with it, or with the right of its reader."""
    before, _ = await standing()
    quiet = 0
    while await still():
        now, over = await standing()  # read before the log: an ended job has written everything
        html, place = await more()
        if now != before:
            before = now
            yield "event: moved\ndata: yes\n\n"
        if html:
            quiet = 0
            yield appended(html, place)
            continue
        if over:
            yield "event: ended\ndata: yes\n\n"
            return
        quiet += 1
        if quiet % PING_LOOKS == 0:
            yield ": still here\n\n"
        await asyncio.sleep(LOOK_SECONDS)


def appended(html: str, place: str) -> str:
    """Write one message that adds lines to the page; it is one line of data, since a break would end it."""
    # htmx reads <hx-...> in the text of a message before it parses it; escaped text has no such tag.
    return f'id: {place}\ndata: <hx-partial hx-target="#log" hx-swap="beforeend">{html}</hx-partial>\n\n'
