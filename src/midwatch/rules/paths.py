"""The one reader of path patterns.

A pattern means what it means in `.gitignore`, from the top of the repository: `*` and `?` stay inside one part of a
path, `**` spans parts, a slash at its start or inside ties a pattern to the top, and a folder it names includes
everything below. What differs:

- A plain name that allows (`paths = ["docs"]`) is at the top, as in `git add docs`; one that forbids is at any depth.
- What forbids holds in any spelling: upper and lower case and Unicode forms are the same.
- `docs/` and `docs/**` name the folder itself too: a tool call does not say whether a path is a folder.
- Brackets also mean themselves: people have files such as `app/[slug]/page.tsx`.
- There is no `!`, no comment and no escape.
- A pattern holds at most two `**`, and three `*` in one part: more can take minutes on a path that is made for it.
"""

import re
import unicodedata
import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from pathspec.patterns.gitignore.base import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from midwatch.errors import Misuse

MOST_DOUBLE_STARS: Final = 2
MOST_STARS: Final = 3
_WILD: Final = frozenset("*?")
_SPECIAL: Final = _WILD | {"["}
_NEGATED: Final = ("[!", "[^")
_ANY: Final = "\ue000"
"""A letter for private use: of a pattern, only wildcards match it."""


def require_patterns(texts: Iterable[str]) -> None:
    """Refuse an invalid path pattern when a person writes it, before anything is spent."""
    for text in texts:
        if fault := pattern_fault(text):
            raise Misuse(f"{text!r} is no path pattern: {fault}.", hint="Write it as in .gitignore, e.g. src/**.")


@lru_cache(maxsize=4096)
def pattern_fault(pattern: str) -> str:
    """Say why a text is not a valid path pattern; empty where it is."""
    parts = _parts(pattern)
    first = parts[0] if parts else ""
    stars = max((part.count("*") for part in parts if part != "**"), default=0)
    faults = (
        (not parts, "it names no path; ** means the whole repository"),
        (".." in parts or first.startswith("~"), "it leaves the repository; write it from the top folder"),
        ("\\" in pattern, "it holds a backslash; separate folders with /"),
        (not pattern.isprintable(), "it holds characters that cannot be seen"),
        (first.startswith("!"), "it starts with '!'; name the paths that are meant"),
        (parts.count("**") > MOST_DOUBLE_STARS, f"it holds more than {MOST_DOUBLE_STARS} **"),
        (stars > MOST_STARS, f"it holds more than {MOST_STARS} * in one part"),
    )
    return next((why for wrong, why in faults if wrong), "")


def is_clean(path: str) -> bool:
    """Only a relative, normalised POSIX path can be judged; everything else counts as outside."""
    if not path or "\\" in path or any(unicodedata.category(letter) == "Cc" for letter in path):
        return False
    return all(part not in {"", ".", ".."} for part in path.split("/"))


def names(path: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns names a path or a folder above it; a pattern without a slash does at any depth."""
    return any(expression.match(path) for pattern in patterns for expression in _expressions(pattern))


def inside(path: str, patterns: Iterable[str]) -> bool:
    """Whether the patterns allow a path that can be read in one way only.

    A path with wildcards of its own (`rm src/*.pyc`) is inside if everything it may match is.
    """
    if not is_clean(path):
        return False
    meant = _meanings(path)
    return any(
        all(names(one, (_from_top(pattern),)) for one in meant)
        for pattern in patterns
        if len(meant) == 1 or not any(sign in pattern for sign in _NEGATED)
    )


def touches(path: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern forbids a path in any spelling: another case or Unicode form is the same file.

    A pattern that cannot be read forbids everything: it was meant to forbid something.
    """
    written = tuple(pattern for pattern in patterns if _parts(pattern))
    return (
        names(path, written)
        or names(spelled_alike(path), map(spelled_alike, written))
        or any(map(pattern_fault, written))
    )


def top_folder(pattern: str) -> str:
    """Name the folder whose content is exactly what a pattern allows; empty where it may allow more or a file."""
    name = "/".join(_parts(pattern)).removesuffix("/**")
    whole = pattern.strip().endswith(("/", "/**")) and not pattern_fault(pattern)
    return name if whole and set(name).isdisjoint('*?[]"') else ""


def spelled_alike(path: str) -> str:
    """Spell a path the way a file system without case would, so that two names for one file become equal."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _parts(pattern: str) -> list[str]:
    return [part for part in pattern.strip().split("/") if part not in {"", "."}]


def _from_top(pattern: str) -> str:
    """Tie a plain name to the top."""
    return pattern if _SPECIAL & set(pattern) else "/" + pattern.strip()


@lru_cache(maxsize=4096)
def _expressions(pattern: str) -> tuple[re.Pattern[str], ...]:
    """Compile what a pattern means: as it is written, and with its brackets as letters."""
    if pattern_fault(pattern):
        return ()
    parts = _parts(pattern)
    while len(parts) > 1 and parts[-1] == "**":
        del parts[-1]
    text = ("/" if ("/" in pattern.strip().rstrip("/")) else "") + "/".join(parts)
    written = "\\" + text if text.startswith("#") else text
    plain = re.sub(r"([\[\]])", r"\\\1", written)
    return tuple(found for one in dict.fromkeys((written, plain)) if (found := _compiled(one)))


def _compiled(text: str) -> re.Pattern[str] | None:
    try:
        expression, _ = GitIgnoreSpecPattern.pattern_to_regex(text)
        with warnings.catch_warnings():  # a set such as `[[a]` may mean more in a later Python; now it is git's
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(expression, re.DOTALL) if isinstance(expression, str) else None
    except (GitIgnorePatternError, re.error):  # brackets that make no set: they mean only themselves
        return None


def _meanings(path: str) -> tuple[str, ...]:
    """Give the path itself, or the shortest and the longest of what its wildcards may match."""
    if _WILD.isdisjoint(path):
        return (path,)
    parts = path.split("/")
    short = [part.replace("*", "").replace("?", _ANY) or _ANY for part in parts if part != "**"]
    long = ["/".join([_ANY] * 3) if part == "**" else part.replace("*", _ANY * 64).replace("?", _ANY) for part in parts]
    return "/".join(short) or _ANY, "/".join(long)
