"""Whether a path lies inside what was allowed or touched what was forbidden; text only, no disk."""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

_WILD = frozenset("*?[")


def is_clean(path: str) -> bool:
    """Only a relative, normalised POSIX path can be judged; everything else counts as outside."""
    if not path or "\\" in path or "\0" in path:
        return False
    return all(part not in {"", ".", ".."} for part in path.split("/"))


def inside(path: str, patterns: Iterable[str]) -> bool:
    """A path is inside when one of the patterns covers all of it."""
    if not is_clean(path):
        return False
    parts = path.split("/")
    return any(_covers(_pattern_parts(pattern), parts, _contains) for pattern in patterns)


def beneath(path: str, places: Iterable[str]) -> bool:
    """A path is beneath a place when the place covers it or is a folder above it."""
    return any(inside(path, (place, place.rstrip("/") + "/**")) for place in places)


def touches(path: str, patterns: Iterable[str]) -> bool:
    """A forbidden pattern is read broadly: it covers what lies under it, and a bare name is meant at any depth."""
    parts = path.split("/")
    heads = [parts[:count] for count in range(1, len(parts) + 1)]
    return any(
        any(_covers(pattern_parts, head, _meets) for head in heads)
        for pattern in patterns
        for pattern_parts in _broad_parts(pattern)
    )


def _pattern_parts(pattern: str) -> list[str]:
    """A trailing slash means everything in that folder."""
    pattern = pattern.removeprefix("./")
    return (pattern + "**" if pattern.endswith("/") else pattern).split("/")


def _broad_parts(pattern: str) -> list[list[str]]:
    bare = pattern.removeprefix("./").strip("/")
    if not bare:
        return []
    parts = bare.split("/")
    # `secrets/**` is meant to protect the folder itself too, not only what is in it.
    trimmed = parts[:-1] if parts[-1] == "**" and len(parts) > 1 else parts
    return [trimmed, ["**", *trimmed]] if len(parts) == 1 else [trimmed]


def _covers(pattern: list[str], parts: list[str], fits: Callable[[str, str], bool]) -> bool:
    """Walk all ways through the pattern at once, so that many `**` cost no more than one."""
    reached = _skip_stars({0}, pattern)
    for part in parts:
        here = {at for at in reached if at < len(pattern) and fits(pattern[at], part)}
        reached = _skip_stars({at if pattern[at] == "**" else at + 1 for at in here}, pattern)
    return len(pattern) in reached


def _skip_stars(places: set[int], pattern: list[str]) -> set[int]:
    reached = set(places)
    for at in range(len(pattern)):
        if at in reached and pattern[at] == "**":
            reached.add(at + 1)
    return reached


def _contains(pattern: str, part: str) -> bool:
    """A part with wildcards may stand for many names, so only a pattern at least as wide contains it."""
    if pattern == "**":
        return True
    if _WILD.isdisjoint(part):
        return fnmatchcase(part, pattern)
    return pattern == part or (pattern == "*" and part != "**")


def _meets(pattern: str, part: str) -> bool:
    """For what is forbidden a part is also its plain text: `[slug].tsx` is a real file name."""
    return pattern == "**" or fnmatchcase(part, pattern) or part == pattern
