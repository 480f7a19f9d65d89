"""One tool call of an agent in a few words, whatever its program calls the tool."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from midwatch.terms.figures import first_few
from midwatch.terms.term import Term
from midwatch.views.text.plain import clean, harmless, marked

RUNS: Final = frozenset({"Bash"})
NOTHING: Final = frozenset({"", "completed", "(no output)", "(Bash completed with no output)"})
"""What programs say of a command that printed nothing."""
LONGEST: Final = 300
MOST_COMPARED: Final = 200_000
"""Longer texts are not compared for the size of an edit."""
_HUNK = re.compile(r"^(?:@@|---|\+\+\+|\*\*\*|===|Index:)")


class CallWords(Term):
    """A call: the word for what it did, what it did it to, and the same as a wish (`May it ...?`)."""

    tool: str
    does: str
    text: str
    wish: str
    note: str = ""


def call_shown(tool: str, given: Mapping[str, Any], root: str = "") -> CallWords:
    """Put a call into words; `root` is left out of its paths."""
    calls = given.get("calls")
    if isinstance(calls, list):
        return _several(tool, [one for one in calls if isinstance(one, dict)], root)
    if tool in RUNS:
        command = given.get("command")
        words = command if isinstance(command, str) else " ".join(map(str, command or ()))
        where = _short(str(given.get("cwd") or ""), root)
        note = f"in {where}" if where not in {"", "."} else ""
        return CallWords(tool=tool, does="ran", text=one_line(words), wish=f"run {one_line(words)}", note=note)
    if tool in {"Edit", "Write", "MultiEdit", "NotebookEdit"}:
        what = ", ".join(_short(path, root) for path in _paths(given)) or "a file"
        return CallWords(tool=tool, does="edited", text=what, wish=f"edit {what}", note=_size(given))
    return _looking(tool, given, root)


def _looking(tool: str, given: Mapping[str, Any], root: str) -> CallWords:
    where = ", ".join(_short(path, root) for path in _paths(given))
    if tool == "Read":
        return CallWords(tool=tool, does="read", text=where or "a file", wish=f"read {where or 'a file'}")
    if tool in {"Grep", "Glob"}:
        pattern = one_line(str(given.get("pattern") or "*"))
        what = f"{where or '.'}" if pattern == "*" else f"{pattern} in {where}" if where else pattern
        return CallWords(tool=tool, does="searched", text=what, wish=f"search {what}")
    if tool in {"WebFetch", "WebSearch"}:
        what = one_line(str(given.get("url") or given.get("query") or ""))
        return CallWords(tool=tool, does="fetched", text=what, wish=f"fetch {what}")
    name = clean(tool.removeprefix("acp:"), 120)
    return CallWords(tool=tool, does="used", text=name, wish=f"use {name}")


def _several(tool: str, calls: list[dict[str, Any]], root: str) -> CallWords:
    each = [call_shown(str(one.get("tool")), one, root) for one in calls]
    if not each:
        return CallWords(tool=tool, does="used", text=clean(tool, 120), wish=f"use {clean(tool, 120)}")
    what = first_few(tuple(dict.fromkeys(one.text for one in each)), 4)
    verb = each[0].wish.partition(" ")[0]
    return each[0].model_copy(update={"text": what, "wish": f"{verb} {what}", "note": ""})


def one_line(text: str) -> str:
    """Show the first line of a command or a pattern, with what cannot be seen made visible; count the rest."""
    first, _, rest = text.strip().partition("\n")
    shown = marked(first[:LONGEST]) + ("…" if len(first) > LONGEST else "")
    more = rest.count("\n") + 1 if rest else 0
    return f"{shown} (+{more} {'line' if more == 1 else 'lines'})" if more else shown


def last_lines(text: str, most: int) -> str:
    """Show how an output ends; blank lines are left out."""
    if text.strip() in NOTHING:
        return ""
    lines = [line.rstrip()[:LONGEST] for line in harmless(text).split("\n") if line.strip()]
    return "\n".join(lines[-most:])


def _short(path: str, root: str) -> str:
    inside = "." if path == root else path.removeprefix(f"{root}/") if root else path
    return marked(inside[:LONGEST])


def _paths(given: Mapping[str, Any]) -> list[str]:
    changes = given.get("changes")
    found = [one.get("path") for one in changes if isinstance(one, dict)] if isinstance(changes, list) else []
    found += [given.get(name) for name in ("file_path", "notebook_path", "path")]
    return list(dict.fromkeys(path for path in found if isinstance(path, str) and path))[:5]


def _size(given: Mapping[str, Any]) -> str:
    """Count the lines an edit adds and removes."""
    added = removed = 0
    for more, less in _changes(given):
        added, removed = added + more, removed + less
    return f"+{added} -{removed}" if added or removed else ""


def _changes(given: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    old, new, diff, content = (given.get(name) for name in ("old_string", "new_string", "diff", "content"))
    if isinstance(old, str) or isinstance(new, str):
        yield _compared(str(old or ""), str(new or ""))
    elif isinstance(diff, str) and diff:
        lines = [line for line in diff[:MOST_COMPARED].split("\n") if not _HUNK.match(line)]
        yield sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)
    elif isinstance(content, str):
        yield len(content.splitlines()), 0
    edits = given.get("edits")
    for edit in edits[:100] if isinstance(edits, list) else ():
        yield from _changes(edit) if isinstance(edit, dict) else ()


def _compared(old: str, new: str) -> tuple[int, int]:
    """Count the lines between the first and the last difference."""
    if len(old) + len(new) > MOST_COMPARED:
        return 0, 0
    before, after = old.splitlines(), new.splitlines()
    same = _alike(before, after)
    same += _alike(before[same:][::-1], after[same:][::-1])
    return len(after) - same, len(before) - same


def _alike(one: list[str], other: list[str]) -> int:
    """Count how many lines both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))
