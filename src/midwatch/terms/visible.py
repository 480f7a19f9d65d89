"""Which characters a reader does not see, and a text in which they become visible; nothing is removed."""

import re
import unicodedata
from typing import Final

MOST_SHOWN: Final = 160
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# What Unicode calls letters or marks and draws as nothing: fillers, joiners, selectors, blank notes and braille.
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)


def unseen(one: str) -> bool:
    """Whether this character is drawn as nothing, or moves or reorders what is drawn."""
    return unicodedata.category(one) in _UNSEEN or _BLANK.match(one) is not None


def odd_space(one: str) -> bool:
    """Whether it looks like a plain blank and is none."""
    return one != " " and unicodedata.category(one) == "Zs"


def hidden(one: str) -> bool:
    """Whether a reader would not see this character for what it is."""
    return unseen(one) or odd_space(one)


def visible(text: str) -> str:
    r"""Write every hidden character as its number, such as \u202e; lines and tabs stay, and nothing is left out."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one in "\n\t" or not hidden(one) else _number(one) for one in text)


def named(text: str, most: int = MOST_SHOWN) -> str:
    """Name a path or command inside a sentence: on one line, and short."""
    line = visible(text[: most + 1]).replace("\n", "\\n").replace("\t", "\\t")
    return line if len(text) <= most else line[:most] + "..."


def _number(one: str) -> str:
    code = ord(one)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
