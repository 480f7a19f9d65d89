"""Which kinds of work an order names; an order that names none means all of them."""

import re
from dataclasses import dataclass

from midwatch.crew.housekeeper import kinds
from midwatch.terms.figures import joined

LINT = "lint"
"""Whatever ruff reports, formatting left out."""
OWN = "own"
"""The project's own ruff rules beyond the named kinds."""

_LAST_NEWLINE = (
    r"(?:(?:without|with\s+no|lack\w*|missing)\s+)?(?:(?:an?|the|their|its)\s+)?"
    r"(?:(?:final|last|trailing|ending|missing)\s+)*new[\s-]?lines?"
    r"(?:\s+at\s+(?:the\s+)?ends?(?:\s+of\s+(?:the\s+)?files?)?)?"
)
_PHRASES: tuple[tuple[str, frozenset[str]], ...] = tuple(
    (pattern, frozenset(names.split()))
    for pattern, names in (
        (r"(?:unused|dead|needless|unnecessary|superfluous|stale)\s+imports?", "F401"),
        (r"imports?\s+(?:(?:that|which)\s+)?(?:are\s+|is\s+)?(?:not\s+(?:used|needed)|unused|never\s+used)", "F401"),
        (r"(?:re)?(?:sort|order|group|arrang)\w*\s+(?:(?:of|the|all|our|its)\s+)*imports?", "I"),
        (r"imports?\s+(?:block\s+)?(?:sort|order)\w*|isort", "I"),
        (r"imports?", "F401 I"),
        (r"(?:trailing\s+)?white[\s-]?space|trailing\s+(?:spaces?|blanks?|tabs?)", kinds.WHITESPACE),
        (r"spaces?\s+at\s+(?:the\s+)?(?:line\s+ends?|ends?\s+of\s+(?:the\s+)?lines?)", kinds.WHITESPACE),
        (_LAST_NEWLINE, kinds.NEWLINE),
        (r"ends?[\s-]of[\s-](?:the[\s-])?files?|EOF", kinds.NEWLINE),
        (r"f-?strings?(?:\s+(?:without|with\s+no)\s+(?:any\s+)?placeholders?)?", "F541"),
        (r"(?:==|equality)\s+(?:instead\s+of|rather\s+than|not)\s+`?is`?|`is`|comparisons?|compar(?:e|ing)", "F632"),
        (r"(?:invalid\s+)?escapes?(?:\s+sequences?)?|backslashe?s?", "W605"),
        (r"(?:re)?format(?:s|ted|ting|ter)?|black", kinds.FORMAT),
        (r"lint(?:s|er|ers|ing)?|ruff|flake8|pyflakes|pycodestyle", LINT),
        (r"pyupgrade|modern(?:ise|ize)", "UP"),
        (r"docstrings?", "D"),
        (r"quotes?|quoting", "Q"),
        (r"comprehensions?", "C"),
        (r"pathlib", "PTH"),
        (r"simplif(?:y|ication|ications)", "SIM"),
        (r"unused\s+variables?", "F841"),
        (r"undefined\s+names?", "F821"),
        (r"(?:(?:dead|broken|relative)\s+)?links?", "dead-link"),
        (r"(?:(?:invalid|broken)\s+)?(?:json|toml|yaml)", "syntax"),
    )
)  # fmt: skip
_NAMES = re.compile(
    "|".join(f"(?P<n{at}>(?<![\\w-])(?:{pattern})(?![\\w-]))" for at, (pattern, _) in enumerate(_PHRASES)),
    re.IGNORECASE,
)
_CODE = re.compile(r"\b([A-Z]{1,4})\d{3,4}\b")
_VERBS = r"remov\w*|fix\w*|strip\w*|sort\w*|tid\w+|clean\w*|appl\w+|add\w*|delet\w*|drop\w*|trim\w*|chang\w*|touch\w*"
_TURN = re.compile(
    rf"(?P<no>(?:\b(?:not|never|without)|n't)(?:\s+(?:{_VERBS}|report\w*))?|\bno\s+other"
    r"|\b(?:except|excluding|leav\w+|keep\w*|ignor\w+|skip\w*|instead\s+of|rather\s+than|other\s+than|apart\s+from))\b"
    rf"|(?P<yes>\b(?:{_VERBS}|report\w*)\b)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.;!?\n](?:\s|$)")

_SAID = {
    kinds.IMPORTS: "unused imports",
    "F541": "f-strings without placeholders",
    "F632": "comparisons by `is`",
    "W605": "invalid escapes",
    OWN: "the project's own ruff rules",
    kinds.SORTING: "import order",
    kinds.WHITESPACE: "trailing white space",
    kinds.NEWLINE: "missing last newlines",
    kinds.FORMAT: "formatting",
    LINT: "what ruff reports",
    "F841": "unused variables",
    "F821": "undefined names",
    "dead-link": "dead links",
    "syntax": "data files",
}
ALWAYS = (kinds.IMPORTS, "F541", "F632", "W605", kinds.WHITESPACE, kinds.NEWLINE)


@dataclass(frozen=True)
class Mandate:
    """What one order names, by kind of work or rule, and what it names to be left alone."""

    words: str = ""
    names: frozenset[str] = frozenset()
    excepts: frozenset[str] = frozenset()

    @property
    def names_nothing(self) -> bool:
        """Whether the order names no kind of work in particular."""
        return not self.names

    def covers(self, kind: str, rule: str, tool: str) -> bool:
        """Whether a fix of this kind is in the order."""
        if _is_named(self.excepts, kind, rule, tool) and rule not in self.names:
            return False
        return self.names_nothing or _is_named(self.names, kind, rule, tool)

    def said(self, offered: tuple[str, ...]) -> str:
        """Say what the order means here, of the kinds this project can get; nothing if there was no order."""
        if not self.words:
            return ""
        if self.names_nothing:
            full = [_SAID[key] for key in offered if not _is_named(self.excepts, key, key, "ruff")]
            but = f", except {_phrase(self.excepts)}" if self.excepts else ""
            return f"The order names no kind of fix{but}, so all of them are made: {joined(full)}"
        return f"The order names {_phrase(self.names)}: only {'this is' if len(self.names) == 1 else 'these are'} fixed"


def read_mandate(words: str) -> Mandate:
    """Read an order's words; a kind after "not", "except" or "leave" is one to leave alone."""
    names, excepts = set[str](), set[str]()
    for start, meant in _mentions(words):
        (excepts if _is_denied(words, start) else names).update(meant)
    return Mandate(words.strip(), frozenset(names), frozenset(excepts - names))


def _mentions(words: str) -> list[tuple[int, frozenset[str]]]:
    found = [(one.start(), _PHRASES[int((one.lastgroup or "n0")[1:])][1]) for one in _NAMES.finditer(words)]
    codes = (one for one in _CODE.finditer(words) if one.group(1) in kinds.FAMILIES or one.group(1) == kinds.SORTING)
    return found + [(one.start(), frozenset({one.group()})) for one in codes]


def _is_denied(words: str, start: int) -> bool:
    """Whether the last turn before a mention, in its sentence, was to leave something alone."""
    ends = [one.end() for one in _SENTENCE.finditer(words) if one.end() <= start]
    turns = list(_TURN.finditer(words, ends[-1] if ends else 0, start))
    return bool(turns) and turns[-1].lastgroup == "no"


def _is_named(names: frozenset[str], kind: str, rule: str, tool: str) -> bool:
    if LINT in names and tool == "ruff" and kind != kinds.FORMAT:
        return True
    return kind in names or rule in names


def _phrase(names: frozenset[str]) -> str:
    known = [said for key, said in _SAID.items() if key in names]
    others = (kinds.kind(name).place[1] if name in kinds.FAMILIES else name for name in sorted(names - set(_SAID)))
    return joined([*known, *others])
