"""Neutral actions, put into the tools that an agent really offered."""

import json
from collections.abc import Mapping
from typing import Any

from tests.agents.model.script import Action, Edit, Read, Shell, Use, Write

Offered = Mapping[str, Mapping[str, Any]]
"""Each tool's name, with the properties of its input."""

SHELLS = ("Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "run_command", "terminal")
WRITERS = ("Write", "write", "write_file", "create_file", "apply_patch")
EDITORS = ("Edit", "edit", "apply_patch")
READERS = ("Read", "read", "read_file", "view")
SOME = 60
PATHS = ("file_path", "filePath", "absolute_path", "path")


def call(action: Action, offered: Offered) -> tuple[str, Any]:
    """Say which tool to call with what; a string is for tools that take free text."""
    match action:
        case Use(tool, given):
            return tool, dict(given)
        case Shell(command):
            return _shell(command, offered)
        case Write(path, content):
            return _write(path, content, offered)
        case Edit(path, old, new):
            return _edit(path, old, new, offered)
        case Read(path, line):
            return _read(path, line, offered)


def _first(names: tuple[str, ...], offered: Offered) -> str:
    return next((name for name in names if name in offered), "")


def _path_key(properties: Mapping[str, Any]) -> str:
    return next((key for key in PATHS if key in properties), "file_path")


def _shell(command: str, offered: Offered) -> tuple[str, Any]:
    tool = _first(SHELLS, offered) or "Bash"
    given: dict[str, Any]
    if tool == "exec_command":
        given = {"cmd": command}
    elif tool == "shell":
        given = {"command": ["bash", "-lc", command]}
    else:
        given = {"command": command}
    if "description" in offered.get(tool, {}):
        given["description"] = "A scripted command"
    return tool, given


def _write(path: str, content: str, offered: Offered) -> tuple[str, Any]:
    tool = _first(WRITERS, offered)
    if tool == "apply_patch":
        return _patch(f"*** Add File: {path}\n{_marked('+', content)}", offered)
    if not tool:
        return _shell(f"cat > {path} <<'MIDWATCH-END'\n{content}\nMIDWATCH-END", offered)
    return tool, {_path_key(offered[tool]): path, "content": content}


def _read(path: str, line: int, offered: Offered) -> tuple[str, Any]:
    tool = _first(READERS, offered)
    if not tool:
        return _shell(f"sed -n '{line},{line + SOME}p' {path}" if line else f"cat {path}", offered)
    some = {"offset": line, "limit": SOME} if line and "offset" in offered[tool] else {}
    return tool, {_path_key(offered[tool]): path, **some}


def _edit(path: str, old: str, new: str, offered: Offered) -> tuple[str, Any]:
    tool = _first(EDITORS, offered)
    if tool == "apply_patch":
        return _patch(f"*** Update File: {path}\n@@\n{_marked('-', old)}{_marked('+', new)}", offered)
    if not tool:
        replace = f"t = p.read_text(); assert {old!r} in t; p.write_text(t.replace({old!r}, {new!r}, 1))"
        program = f"import pathlib; p = pathlib.Path({path!r}); {replace}"
        return _shell(f"python3 - <<'MIDWATCH-END'\n{program}\nMIDWATCH-END", offered)
    properties = offered[tool]
    keys = ("oldString", "newString") if "oldString" in properties else ("old_string", "new_string")
    return tool, {_path_key(properties): path, keys[0]: old, keys[1]: new}


def _patch(body: str, offered: Offered) -> tuple[str, Any]:
    """Free text for Codex; OpenCode's tool of the same name takes it in a field."""
    text = f"*** Begin Patch\n{body}*** End Patch\n"
    return "apply_patch", {"patchText": text} if "patchText" in offered["apply_patch"] else text


def _marked(mark: str, text: str) -> str:
    return "".join(f"{mark}{line}\n" for line in text.splitlines())


def as_json(given: Any) -> str:
    """Give a call's input as the text that goes over the wire."""
    return json.dumps(given if isinstance(given, dict) else {"input": given})
