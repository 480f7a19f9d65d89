"""An agent's text made harmless in other people's Markdown: no mentions, closed issues, images or forged trailers."""

import re
from collections.abc import Iterable
from typing import Final

from midwatch.views.text.plain import clean

GAP: Final = "\u200b"
"""Has no width, and no forge reads a name or a number across it."""
_MENTION = re.compile(r"@(?=[A-Za-z0-9_])")
_NUMBERED = re.compile(r"(#|\bGH-|\b(?:issues|pull|pulls|discussions)/|!(?=\d))(?=\d)", re.IGNORECASE)
_CLOSING = re.compile(
    r"\b(?:clos(?:e|es|ed)|fix(?:|es|ed)|resolv(?:e|es|ed))\b:?\s+([^\s#]{0,200}#\d{1,12}|GH-\d{1,12}|[^\s]{1,200}?/issues/\d{1,12})",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?=[#A-Za-z])")
_DOMAIN = re.compile(r"(?<=\w)[.\u3002\uff0e\uff61](?=[^\W\d_]{2})")
_ADDRESS = re.compile(r"(?<=\d)\.(?=\d+\.\d+\.\d)")
_SCHEME = re.compile("://")
_MARKED = re.compile(r"\][(\[:]")
MOST: Final = 600
LONGEST_ISSUE: Final = 200
MOST_ISSUES: Final = 10


def tamed(text: str, most: int = MOST) -> str:
    """Return a text as one line without effects: no mention, no reference, no active markup."""
    line = clean(text, most)
    # First, or an escape or an entity in the text would undo ours: `\[`, `&commat;ada`, `Fixes &num;12`.
    line = _ENTITY.sub("&amp;", line.replace("\\", "\\\\"))
    for mark, plain in (("<", "&lt;"), ("![", "! ["), ("[", "\\[")):
        line = line.replace(mark, plain)
    return unreferring(line)


def unreferring(text: str) -> str:
    """Break what a forge would read as a mention or as an issue."""
    return _NUMBERED.sub(rf"\1{GAP}", _MENTION.sub(f"@{GAP}", text))


def unlinked(text: str, links: Iterable[str] = ()) -> str:
    """Return a text for a messenger: no mention, and no link but these, since a preview would be fetched.

    It looks the same as before, because a messenger may read it as plain text, as Markdown or as HTML.
    """
    known = "|".join(re.escape(link) for link in sorted(set(links), key=len, reverse=True) if link)
    if not known:
        return _broken(text)
    parts = re.split(rf"((?<!\S)(?:{known})(?!\S))", text)
    return "".join(part if at % 2 else _broken(part) for at, part in enumerate(parts))


def _broken(text: str) -> str:
    for what in (_DOMAIN, _ADDRESS, _SCHEME, _ENTITY, _MARKED):
        text = what.sub(lambda found: found.group()[0] + GAP + found.group()[1:], text)
    return unreferring(text.replace("<", "\u2039"))


def titled(text: str, most: int = 200) -> str:
    """Return a text as a title: it may become a commit's subject when the work is squashed."""
    return unreferring(clean(text, most))


def quoted(text: str) -> str:
    """Return a text as code that cannot end early."""
    return f"`{clean(text).replace('`', chr(0x2B9))}`"


def closes(text: str) -> tuple[str, ...]:
    """Return the issues this text would close as a commit on the main branch."""
    return tuple(dict.fromkeys(found.group(1)[:LONGEST_ISSUE] for found in _CLOSING.finditer(text)))[:MOST_ISSUES]
