"""The names in a git diff: prefixed, sometimes quoted, and two of them on one line."""

import re

_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def path_of(text: str, *, prefixed: bool) -> str:
    """Read one name as `---`, `+++` or `rename to` has it."""
    bare = unquoted(text) if text.startswith('"') else text.removesuffix("\t")
    return bare[2:] if prefixed and bare[1:2] == "/" and bare != "/dev/null" else bare


def header_paths(text: str) -> tuple[str, str]:
    """Read both names of a `diff --git` line; without quotes only equal names can be told apart from a space."""
    quoted = _QUOTED.match(text)
    if quoted:
        return path_of(quoted[0], prefixed=True), path_of(text[quoted.end() + 1 :], prefixed=True)
    if text.endswith('"') and ' "' in text:
        old, new = text.split(' "', 1)
        return path_of(old, prefixed=True), path_of(f'"{new}', prefixed=True)
    half = len(text) // 2
    old, new = text[:half], text[half + 1 :]
    if text[half : half + 1] == " " and old[2:] == new[2:]:
        return old[2:], new[2:]
    old, _, new = text.partition(" ")
    return path_of(old, prefixed=True), path_of(new, prefixed=True)


def unquoted(text: str) -> str:
    """Undo git's quoting: a backslash with three octal digits is one byte."""
    inner = text[1:-1] if len(text) > 1 and text.endswith('"') else text[1:]
    raw = _ESCAPE.sub(_byte, inner.encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "replace")


def _byte(found: re.Match[bytes]) -> bytes:
    said = found[1].decode()
    return bytes([_ESCAPES[said] if said in _ESCAPES else int(said, 8) & 255])
