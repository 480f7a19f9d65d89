"""Text from anywhere made safe to print on one line, and short words for commands that must start fast."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from midwatch.terms.figures import first_few
from midwatch.terms.visible import odd_space, unseen

MOST = 200
"""Longer text is cut in the log; the entry itself has the rest."""
MOST_MARKS = 4
"""Marks stacked higher than this on one letter cover the lines above."""
ISOLATION_MARKS = {"bubblewrap": "walled", "landlock": "half-walled", "seatbelt": "half-walled", "none": "no walls"}

# Terminal sequences: CSI, then OSC and its relatives with their text, then any two-character escape. What never ends
# loses only its beginning: otherwise one stray escape would hide all the words after it.
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]?|\x9b[0-?]*[ -/]*[@-~]"
)
_BREAKS = re.compile("\r\n?|[\u2028\u2029\x0b\x0c\x85]")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_KEPT_TABS = re.compile("[\x00-\x08\x0a-\x1f\x7f]")


def clean(text: str, most: int = MOST) -> str:
    """Remove what could mislead a reader: terminal sequences, control, bidi and invisible characters, line breaks."""
    line = text if _is_simple(text) else harmless(_CONTROLS.sub(" ", _ANSI.sub("", text)))
    line = " ".join(line.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def harmless(text: str) -> str:
    """Remove what could move a terminal, hide, reorder or cover text; lines and tabs stay."""
    if _is_simple(text):
        return text
    bare = _BREAKS.sub("\n", _ANSI.sub("", text))
    return "\n".join(_harmless_line(line) for line in bare.split("\n"))


def _harmless_line(line: str) -> str:
    if line.isascii():  # most of a long log, and much quicker
        return _KEPT_TABS.sub("", line)
    return "".join(one for one, hides in weighed(line) if not hides)


def weighed(text: str) -> Iterator[tuple[str, bool]]:
    """Yield every character, and whether to hide it from a reader: invisible, or on top of a stack of marks."""
    height = 0
    for one in text:
        drawn_as_nothing, mark = _nature(one)
        if not drawn_as_nothing:  # which does not end a stack of marks: once it is removed, the marks around it join
            height = height + 1 if mark else 0
        yield one, drawn_as_nothing or height > MOST_MARKS


@lru_cache(4096)
def _nature(one: str) -> tuple[bool, bool]:
    """Return whether a character is drawn as nothing, and whether it is drawn onto the letter before it."""
    return one not in "\n\t" and unseen(one), unicodedata.category(one) in {"Mn", "Me"}


def _is_simple(text: str) -> bool:
    return text.isascii() and text.isprintable()


def as_sentence(words: str) -> str:
    """Write words as a sentence: with a capital letter, and a full stop where nothing ends it."""
    said = words.strip()
    ended = said if not said or said[-1] in ".!?…" else f"{said}."
    return ended[:1].upper() + ended[1:]


def spaced(code: str) -> str:
    """Turn a name such as `red_when_restored` into words."""
    return clean(code).replace("_", " ")


def listed(names: tuple[str, ...], most: int = 3) -> str:
    """Name the first few and count the rest."""
    return first_few([clean(name, 80) for name in names], most)


def marked(text: str) -> str:
    """Make invisible characters visible, such as ⟨U+202E⟩, for a reviewer; lines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_mark(one) if hides or odd_space(one) else one for one, hides in weighed(text))


def _mark(one: str) -> str:
    return f"⟨U+{ord(one):04X}⟩"
