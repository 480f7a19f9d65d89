"""Completes names in a shell: projects, jobs, agents, asks and the rest, as the server or the records know them.

A shell waits for it at each key: it asks a server that answers at once, else reads; it starts and writes nothing.
"""

import contextlib
import io
from collections.abc import Callable
from typing import Any, Final

from midwatch.surfaces.cli.shell import client

SOURCES: Final = {
    "asks:number": ("/asks", "number"),
    "job:name": ("/jobs", "number"),
    "person:name": ("/people", "name"),
    "project:name": ("/projects", "name"),
    "settings:proposal": ("/settings/proposals", "number"),
    "token revoke:name": ("/tokens", "number"),
    ":forge": ("/forges", "name"),
    ":goal": ("/goals", "statement"),
    ":item": ("/work", "number"),
    ":job": ("/jobs", "number"),
    ":key": ("/settings", "key"),
    ":night": ("/sessions", "number"),
    ":person_": ("/people", "name"),
    ":project": ("/projects", "name"),
}
"""By command or verb and parameter, or by parameter under any verb: what is listed, and which field is typed."""
NAMING: Final = ("project add:name", "token new:name")
"""These give something its name; the names that are taken are no help."""
OF_ONE: Final = {
    "asks:answer": ("/asks", "number", "number", "options"),
    "project take-back:tool": ("/projects", "name", "name", "always_tools"),
}
"""What one thing offers: the list, the field that names the thing, the parameter with its name, the field offered."""
KNOWN_AGENTS: Final = ("housekeeper", "claude", "codex", "opencode")
IN_SETTINGS: Final = {
    "agent:name": ("agents", KNOWN_AGENTS),
    "agent:names": ("agents", KNOWN_AGENTS),
    "channel:name": ("channels", ()),
    ":agent": ("agents", KNOWN_AGENTS),
}
"""What has a table in the settings, and the names that are known without one."""
LEVELS: Final = ("observe", "cautious", "moderate", "full")
ROLES: Final = ("viewer", "approver", "operator", "owner")
CHOICES: Final = {
    "goal:horizon": ("short", "medium", "long"),
    "level:wanted": LEVELS,
    "project:flag": ("protected", "blocked", "skipped"),
    "rehearse:level": LEVELS,
    "replay:tag": ("writes", "errors", "assumptions", "evidence", "decisions"),
    "review:flag": ("wrong_fact", "unsafe"),
    "token:scope": ("read", "answer", "operate", "govern"),
    "work:status": ("backlog", "in_progress", "blocked", "done"),
    ":role": ROLES,
}
Complete = Callable[[Any, Any, str], list[str]]


def complete_names(command: Any, ctx: Any, path: str) -> None:
    """Give each parameter that takes a name the names there are; a shell asks for them only then."""
    for param in command.get_params(ctx):
        complete = completion_of(path, str(param.name))
        if complete is not None and hasattr(param, "_custom_shell_complete"):
            param._custom_shell_complete = complete  # noqa: SLF001 - verbs need not repeat it
    for name, child in getattr(command, "commands", {}).items():
        complete_names(child, ctx, f"{path} {name}")


def completion_of(path: str, param: str) -> Complete | None:
    """Find what completes a parameter of a command, if anything does."""
    keys = [f"{path}:{param}", f"{path.split(maxsplit=1)[0]}:{param}", f":{param}"]
    if keys[0] in NAMING:
        return None
    for key in keys:
        if key in CHOICES:
            return _choices(CHOICES[key])
        if key in OF_ONE:
            return _of_one(*OF_ONE[key])
        if key in IN_SETTINGS:
            return _in_settings(*IN_SETTINGS[key])
        if key in SOURCES:
            return _names(*SOURCES[key])
    return None


def _choices(words: tuple[str, ...]) -> Complete:
    return lambda _ctx, _param, typed: [word for word in words if word.startswith(typed)]


def _names(path: str, field: str) -> Complete:
    def complete(_ctx: Any, _param: Any, typed: str) -> list[str]:
        rows = (row for row in _listed(client.glance, path) if not row.get("ad_hoc"))
        return _offered((row[field] for row in rows if row[field]), typed)  # a draft's number is 0

    return complete


def _in_settings(table: str, known: tuple[str, ...]) -> Complete:
    def complete(_ctx: Any, _param: Any, typed: str) -> list[str]:
        return _offered((*known, *_listed(client.names_in_settings, table)), typed)

    return complete


def _of_one(path: str, field: str, param: str, offered: str) -> Complete:
    def complete(ctx: Any, _param: Any, typed: str) -> list[str]:
        wanted = str(ctx.params.get(param))
        return _offered(
            (one for row in _listed(client.glance, path) if str(row[field]) == wanted for one in row[offered]), typed
        )

    return complete


def _offered(names: Any, typed: str) -> list[str]:
    """Names in order, numbers as numbers; a name that could drive the terminal is not offered."""
    found = {str(name) for name in names if str(name).startswith(typed) and str(name).isprintable()}
    return sorted(found, key=lambda name: (int(name), "") if name.isdecimal() else (-1, name))


def _listed(read: Callable[[str], list[Any]], what: str) -> list[Any]:
    with contextlib.redirect_stderr(io.StringIO()):  # a shell that completes shows no remarks and no errors
        try:
            return read(what)
        except Exception:  # noqa: BLE001 - whatever is wrong, a key pressed in a shell is no place to say it
            return []
