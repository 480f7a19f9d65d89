"""Text from anywhere made safe to print on one line, and small numbers said in words."""

import re
import unicodedata

MOST = 200
"""Longer than this nobody reads in a log; the entry itself has the rest."""

# Terminal sequences: CSI, then OSC and its relatives with their text, then any two-character escape.
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?|\x9b[0-?]*[ -/]*[@-~]"
)
_INVISIBLE = frozenset({"Cf", "Cs", "Co", "Cn"})


def clean(text: str, most: int = MOST) -> str:
    """Take out what could lie to a reader: terminal sequences, control and bidi characters, line breaks."""
    bare = _ANSI.sub("", text)
    kept = (_kept(character) for character in bare)
    line = " ".join("".join(kept).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def harmless(text: str) -> str:
    """Take out what could move a terminal or turn its words around, and keep lines and tabs as they are."""
    bare = _ANSI.sub("", text)
    return "".join(one for one in bare if one in "\n\t" or not (_INVISIBLE | {"Cc"}) & {unicodedata.category(one)})


def _kept(character: str) -> str:
    category = unicodedata.category(character)
    if category in _INVISIBLE:
        return ""
    return " " if category in {"Cc", "Zl", "Zp"} else character


def counted(number: int, noun: str, plural: str = "") -> str:
    """Say how many, with the noun in the right form."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def spaced(code: str) -> str:
    """Turn a name such as `red_when_restored` into words."""
    return clean(code).replace("_", " ")


def listed(names: tuple[str, ...], most: int = 3) -> str:
    """Name the first few and count the rest."""
    shown = ", ".join(clean(name, 80) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
