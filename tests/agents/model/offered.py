"""Neutral actions, put into the tools that an agent really offered."""

import json
from collections.abc import Mapping
from typing import Any

from tests.agents.model.script import Action, Read, Shell, Use, Write

Offered = Mapping[str, Mapping[str, Any]]
"""Each tool's name, with the properties of its input."""

SHELLS = ("Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "run_command", "terminal")
WRITERS = ("Write", "write", "write_file", "create_file", "apply_patch")
READERS = ("Read", "read", "read_file", "view")
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
        case Read(path):
            tool = _first(READERS, offered)
            return (tool, {_path_key(offered[tool]): path}) if tool else _shell(f"cat {path}", offered)


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
        added = "".join(f"+{line}\n" for line in content.splitlines())
        return tool, f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"
    if not tool:
        return _shell(f"cat > {path} <<'MIDWATCH-END'\n{content}\nMIDWATCH-END", offered)
    return tool, {_path_key(offered[tool]): path, "content": content}


def as_json(given: Any) -> str:
    """Give a call's input as the text that goes over the wire."""
    return json.dumps(given if isinstance(given, dict) else {"input": given})
