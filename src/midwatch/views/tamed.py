"""An agent's words in somebody else's Markdown: they call nobody, close nothing, show no picture, forge no trailer."""

import re
from typing import Final

from midwatch.views.plain import clean

GAP: Final = "\u200b"
"""Takes no room, and no forge reads a name or a number across it."""
_MENTION = re.compile(r"@(?=[A-Za-z0-9_])")
_NUMBERED = re.compile(r"(#|\bGH-|\b(?:issues|pull|pulls|discussions)/|!(?=\d))(?=\d)", re.IGNORECASE)
_CLOSING = re.compile(
    r"\b(?:clos(?:e|es|ed)|fix(?:|es|ed)|resolv(?:e|es|ed))\b:?\s+(\S*#\d+|GH-\d+|\S+/issues/\d+)", re.IGNORECASE
)
_ENTITY = re.compile(r"&(?=[#A-Za-z])")
MOST: Final = 600


def tamed(text: str, most: int = MOST) -> str:
    """Give a text as one line that is only read: no mention, no reference, no markup that does anything."""
    line = clean(text, most)
    # First, or an escape or an entity of theirs would undo ours: `\[`, `&commat;ada`, `Fixes &num;12`.
    line = _ENTITY.sub("&amp;", line.replace("\\", "\\\\"))
    for mark, plain in (("<", "&lt;"), ("![", "! ["), ("[", "\\[")):
        line = line.replace(mark, plain)
    return unreferring(line)


def unreferring(text: str) -> str:
    """Break what a forge would read as a person or as an issue."""
    return _NUMBERED.sub(rf"\1{GAP}", _MENTION.sub(f"@{GAP}", text))


def titled(text: str, most: int = 200) -> str:
    """Give a text as a title: it may become a commit's subject when the work is squashed."""
    return unreferring(clean(text, most))


def quoted(text: str) -> str:
    """Give a text as code, which nothing in it can end."""
    return f"`{clean(text).replace('`', chr(0x2B9))}`"


def closes(text: str) -> str:
    """Tell which issue these words would close once they are a commit on the main branch; nothing, if none."""
    found = _CLOSING.search(text)
    return found.group(1) if found else ""
