"""What an ACP agent says about a tool call, in the words of the tools our rules know; nothing where it is not exact."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

Call = tuple[str, Mapping[str, Any]]

READING = ("Read", "Grep", "Glob")
PATHS = ("file_path", "filePath", "filepath", "absolute_path", "path", "file")
CHANGES = ("edit", "delete", "move")


def merged(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Lay a later word about a call over an earlier one; an empty word says nothing."""
    return {**before, **{name: value for name, value in after.items() if value not in (None, "", [], {})}}


def calls(about: Mapping[str, Any], folder: str) -> list[Call]:
    """Say what a call would do."""
    kind, given = str(about.get("kind") or "other"), about.get("rawInput")
    given = given if isinstance(given, dict) else {}
    command = _command(given)
    match kind:
        case kind if kind == "execute" or command:  # some ask first about a command's folders, as another kind
            return [("Bash", {"command": command, "cwd": str(given.get("cwd") or folder)})] if command else []
        case "read":
            return [("Read", {**given, "file_path": path}) for path in _paths(about, given, folder)]
        case "search":
            path = next(iter(_paths(about, given, folder)), folder)
            return [("Grep", {**given, "path": path})]
        case kind if kind in CHANGES:
            return _changes(about, given, folder)
        case "fetch":
            return [("WebFetch", dict(given))]
        case _:
            return [(str(about.get("title") or "unknown"), dict(given))]


def _command(given: Mapping[str, Any]) -> str:
    command = given.get("command")
    if isinstance(command, list):
        return " ".join(str(word) for word in command)
    return command if isinstance(command, str) else ""


def _paths(about: Mapping[str, Any], given: Mapping[str, Any], folder: str) -> list[str]:
    named = [given[name] for name in PATHS if isinstance(given.get(name), str)]
    places = [place.get("path") for place in about.get("locations") or () if isinstance(place, dict)]
    found = named or [place for place in places if isinstance(place, str)]
    return [str(PurePosixPath(folder, path)) for path in found]


def _changes(about: Mapping[str, Any], given: Mapping[str, Any], folder: str) -> list[Call]:
    """Name every file that would change: those it shows and those it gives the tool, which may differ."""
    shown = [part for part in about.get("content") or () if isinstance(part, dict) and part.get("type") == "diff"]
    found: dict[str, Call] = {}
    for path in _every(about, given, folder):
        found[path] = ("Edit", {**given, "file_path": path})
    for part in shown:
        path = str(PurePosixPath(folder, str(part.get("path"))))
        old, new = part.get("oldText"), part.get("newText")
        plain = {"file_path": path}
        found[path] = (
            ("Edit", plain | {"old_string": old, "new_string": new}) if old else ("Write", plain | {"content": new})
        )
    return list(found.values())


def _every(about: Mapping[str, Any], given: Mapping[str, Any], folder: str) -> Iterable[str]:
    yield from _paths(about, given, folder)
    yield from _paths(about, {}, folder)
