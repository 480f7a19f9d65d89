"""Whether the list of tools names a command: `Bash(git *)` and its like, word by word."""

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from midwatch.rules.tools import command_lists as lists

_PATTERN: Final = re.compile(r"Bash\((.*)\)", re.DOTALL)


def listed(argv: Sequence[str], tools: Iterable[str]) -> bool:
    """Whether some pattern of settings execution.allowed_tools means this command."""
    return any(_fits(pattern, argv) for pattern in _patterns(tools))


def _patterns(tools: Iterable[str]) -> Iterator[tuple[str, ...]]:
    for tool in tools:
        if tool == "Bash":
            yield ("*",)
        elif found := _PATTERN.fullmatch(tool):
            text = found.group(1)
            yield tuple((text[:-2] + " *" if text.endswith(":*") else text).split())


def _fits(pattern: tuple[str, ...], argv: Sequence[str]) -> bool:
    """Each word of a pattern stands for one word, and a lone star for any number of them."""
    if _needs_its_name(argv) and tuple(argv[:2]) != pattern[:2]:
        return False
    reached = {0}
    for word in argv:
        stars = {at for at in _past_stars(reached, pattern) if at < len(pattern)}
        reached = {at if pattern[at] == "*" else at + 1 for at in stars if fnmatchcase(word, pattern[at])}
    return len(pattern) in _past_stars(reached, pattern)


def _past_stars(places: set[int], pattern: tuple[str, ...]) -> set[int]:
    reached = set(places)
    for at, word in enumerate(pattern):
        if at in reached and word == "*":
            reached.add(at + 1)
    return reached


def _needs_its_name(argv: Sequence[str]) -> bool:
    """Some verbs of git start programs or reach the network: `git *` does not mean them, `git fetch *` does."""
    if argv[0] != "git":
        return False
    verb, rest = lists.git_verb(argv)
    known = verb in lists.GIT_READERS | lists.GIT_WRITERS or (not rest and verb in {"", "--version", "help", "init"})
    return not known or lists.git_hazard(verb, rest)
