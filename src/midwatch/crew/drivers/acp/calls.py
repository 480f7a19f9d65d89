"""Translates an ACP agent's tool calls into the tools our rules know; empty if a call is not exact.

The content decides, not the title: a call with a command is a run, one with a diff is a change.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from midwatch.crew.drivers.shells import script_in

Call = tuple[str, Mapping[str, Any]]

PATHS = ("file_path", "filePath", "filepath", "absolute_path", "path", "file")
TARGETS = ("to", "destination", "new_path", "newPath", "move_path", "movePath")
PATCHES = ("patch", "patchText", "input", "diff")
CHANGES = ("edit", "delete", "move")
_PATCH_LINE = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*)$", re.MULTILINE)


def merged(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Merge a later message about a call into an earlier one; empty values change nothing."""
    return {**before, **{name: value for name, value in after.items() if value not in (None, "", [], {})}}


def calls(about: Mapping[str, Any], folder: str) -> list[Call]:
    kind, given = str(about.get("kind") or "other"), about.get("rawInput")
    given = given if isinstance(given, dict) else {}
    if given.get("env"):  # environment variables can change what any command does
        return [unknown(about)]
    command = given.get("command", given.get("cmd"))
    changes = kind in CHANGES or next(_diffs(about), None) is not None
    if command or kind == "execute":  # some agents ask about a command's folders first, as another kind
        found = _command(command, given.get("args"))
        ran: list[Call] = [("Bash", {"command": found, "cwd": _cwd(given, folder)})] if found else []
        return [*ran, *(_changes(about, given, folder) or [unknown(about)])] if changes else ran
    if changes:
        return _changes(about, given, folder)
    if kind == "fetch" or isinstance(given.get("url"), str):
        return [("WebFetch", dict(given))]
    return _looking(kind, about, given, folder)


def unknown(about: Mapping[str, Any]) -> Call:
    """Name an unknown call, so that its title cannot pass for a known tool."""
    given = about.get("rawInput")
    return f"acp:{about.get('title') or about.get('kind') or 'unknown'}", given if isinstance(given, dict) else {}


def _looking(kind: str, about: Mapping[str, Any], given: Mapping[str, Any], folder: str) -> list[Call]:
    paths = list(dict.fromkeys(_paths(about, given, folder)))
    if kind == "read":
        return [("Read", {**given, "file_path": path}) for path in paths]
    if kind == "search":
        return [("Grep", {**given, "path": path}) for path in paths or [folder]]
    return [("TodoWrite", given)] if kind == "think" and not paths else [unknown(about)]


def _cwd(given: Mapping[str, Any], folder: str) -> str:
    found = given.get("cwd") or given.get("workdir")
    return _joined(folder, found) if isinstance(found, str) else folder


def _command(command: object, args: object) -> str | list[str]:
    """Return a shell command as text, and any other command as its words."""
    if isinstance(command, str) and isinstance(args, list) and args:
        command = [command, *args]
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return ""
    return script_in(command) or command


def _joined(folder: str, path: str) -> str:
    return path if path.startswith("~") else str(PurePosixPath(folder, path))


def _paths(about: Mapping[str, Any], given: Mapping[str, Any], folder: str) -> Iterator[str]:
    """List every path given to the tool and every location shown, which may differ."""
    places = [place for place in _several(about, "locations") if isinstance(place, dict)]
    # opencode names all files of a patch in one text, beside the list of them.
    files = [str(one.get("filePath")) for one in _several(given, "files") if isinstance(one, dict)]
    together = ", ".join(path.removeprefix(f"{folder}/") for path in files)
    named = [given.get(name) for name in PATHS if not together or given.get(name) != together]
    named += [place.get("path") for place in places]
    yield from (_joined(folder, path) for path in named if isinstance(path, str) and path)


def _diffs(about: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from (part for part in _several(about, "content") if isinstance(part, dict) and part.get("type") == "diff")


def _changes(about: Mapping[str, Any], given: Mapping[str, Any], folder: str) -> list[Call]:
    """List every file that would change: those it shows and those it gives the tool."""
    result = {word: given[word] for word in ("content", "diff", "patch") if isinstance(given.get(word), str)}
    found: dict[str, Call] = {}
    for path in (*_paths(about, given, folder), *_targets(given, folder)):
        found[path] = ("Edit", {"file_path": path, **result})
    for part in _diffs(about):
        path = _joined(folder, str(part.get("path")))
        old, new = part.get("oldText"), part.get("newText")
        plain = {**result, "file_path": path}
        found[path] = (
            ("Edit", plain | {"old_string": old, "new_string": new}) if old else ("Write", plain | {"content": new})
        )
    return list(found.values())


def _several(given: Mapping[str, Any], name: str) -> list[Any]:
    found = given.get(name)
    return found if isinstance(found, list) else []


def _targets(given: Mapping[str, Any], folder: str) -> Iterable[str]:
    """List the destinations, and the other files that a patch or a list of files changes."""
    named = [given.get(word) for word in TARGETS]
    for one in _several(given, "files"):
        named += [one.get(word) for word in (*PATHS, *TARGETS)] if isinstance(one, dict) else [one]
    for word in PATCHES:
        if isinstance(given.get(word), str):
            named += [path.strip() for path in _PATCH_LINE.findall(given[word])]
    yield from (_joined(folder, path) for path in named if isinstance(path, str) and path)
