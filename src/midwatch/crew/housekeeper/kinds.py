"""The kinds of work the housekeeper does, in order, and the text for each."""

import re
from dataclasses import dataclass

from midwatch.terms.figures import some


@dataclass(frozen=True)
class Kind:
    """One kind of work: one piece, one commit."""

    key: str
    subject: str
    place: tuple[str, str]
    """The noun for one place, and for several."""
    verb: str

    def intent(self, places: int, files: int) -> str:
        """What will be done, as part of a sentence."""
        return f"{self.verb} {some(places, *self.place)} in {some(files, 'file')}"


IMPORTS, WHITESPACE, NEWLINE, FORMAT, SORTING = "F401", "whitespace", "newline", "format", "I"

_NAMED = {
    IMPORTS: Kind(IMPORTS, "Remove unused imports", ("unused import", "unused imports"), "remove"),
    "F541": Kind(
        "F541", "Fix f-strings without placeholders (F541)", ("f-string without placeholders", "idle f-strings"), "fix"
    ),
    "F632": Kind(
        "F632", "Compare literals with == instead of is (F632)", ("comparison by `is`", "comparisons by `is`"), "fix"
    ),
    "W605": Kind("W605", "Fix invalid escape sequences (W605)", ("invalid escape", "invalid escapes"), "fix"),
    SORTING: Kind(SORTING, "Sort imports by the project's own rules (I)", ("import block", "import blocks"), "sort"),
    WHITESPACE: Kind(
        WHITESPACE,
        "Strip trailing white space",
        ("line's trailing white space", "lines' trailing white space"),
        "strip",
    ),
    NEWLINE: Kind(NEWLINE, "End files with a newline", ("missing last newline", "missing last newlines"), "add"),
    FORMAT: Kind(
        FORMAT,
        "Format with the project's own ruff format settings",
        ("unformatted file", "unformatted files"),
        "format",
    ),
}
_FIRST = (IMPORTS, "F541", "F632", "W605")
_LAST = (SORTING, WHITESPACE, NEWLINE, FORMAT)
FAMILIES = {
    "A": "shadowing", "B": "bugbear", "C": "comprehension", "COM": "comma", "D": "docstring", "E": "style",
    "F": "pyflakes", "FURB": "refurb", "PERF": "performance", "PIE": "pie", "PT": "pytest", "PTH": "pathlib",
    "Q": "quote", "RET": "return", "RUF": "ruff", "SIM": "simplify", "UP": "pyupgrade", "W": "warning",
}  # fmt: skip


def kind_of(rule: str) -> str:
    """The key of the kind of work that fixes a ruff rule."""
    if rule in {"W291", "W293"}:
        return WHITESPACE
    if rule == "W292":
        return NEWLINE
    return rule if rule in _NAMED else _prefix(rule)


def kind(key: str) -> Kind:
    """The kind of work behind a key; families of the project's own rules have no entry of their own."""
    if key in _NAMED:
        return _NAMED[key]
    name = FAMILIES.get(key, key)
    own = f"fix of the project's own {name} rules"
    return Kind(key, f"Apply the project's own {name} rules ({key})", (own, own.replace("fix", "fixes", 1)), "make")


def in_order(keys: set[str]) -> list[str]:
    """Sort kinds of work: removals first, what depends on the final text last."""
    middle = sorted(keys - set(_FIRST) - set(_LAST))
    return [k for k in (*_FIRST, *middle, *_LAST) if k in keys]


def _prefix(rule: str) -> str:
    found = re.match(r"[A-Z]+", rule)
    return found.group() if found else rule
