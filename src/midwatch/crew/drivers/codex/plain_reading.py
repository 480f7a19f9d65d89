"""Codex reads only by shell commands: finds those that provably only read, and what they read.

Any other command stays a shell command and is judged as one. Nothing is taken from Codex's own reading of a
command, because it is a guess for display.
"""

import re
import shlex
from collections.abc import Mapping
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from midwatch.crew.drivers.shells import script_in

Call = tuple[str, Mapping[str, Any]]

_WORD = re.compile(r"""(?:[\w./,:=@%+-]+|'[^'\n]*'|"[^"$`\\\n!]*")+""", re.ASCII)
_LINES = re.compile(r"\d+(,(\d+|\$))?p")
_NUMBER = re.compile(r"\d+")

PRINTERS = {"cat": "benstvAET", "head": "nqvc", "tail": "nqvc", "nl": "ba", "wc": "clmwL"}
LISTERS = {"ls": "1aAlhRrtSFdp"}
SEARCHERS = {"grep": "nirRwHhcFEIlLsvxo", "rg": "niwHIcFlsvxoNuS"}
SEARCH_WORDS = {"--files", "--hidden", "--line-number", "--ignore-case", "--no-heading", "--files-with-matches"}


def unwrapped(command: str) -> str:
    """Return the script inside `bash -lc '...'`, or the command as it is."""
    try:
        return script_in(shlex.split(command)) or command
    except ValueError:
        return command


def readings(script: str, folder: str) -> list[Call] | None:
    """Return what a script reads, as calls of reading tools; None if it might do anything else."""
    calls: list[Call] = []
    for command in _commands(script):
        found = _reading(command, folder)
        if found is None:
            return None
        calls += found
    return calls or None


def _commands(script: str) -> list[list[str]]:
    """Split a script at `&&` and `;`; one with an empty command is rejected."""
    commands: list[list[str]] = [[]]
    at = 0
    while at < len(script):
        if script[at] == " ":
            at += 1
        elif joint := next((one for one in ("&&", ";") if script.startswith(one, at)), ""):
            commands.append([])
            at += len(joint)
        elif word := _WORD.match(script, at):
            commands[-1].append(shlex.split(word.group())[0])
            at = word.end()
        else:
            return [[]]
    return commands


def _reading(command: list[str], folder: str) -> list[Call] | None:
    name, *rest = command or [""]
    if name == "sed" and len(rest) >= 3 and rest[0] == "-n" and _LINES.fullmatch(rest[1]):
        return _files("Read", rest[2:], folder)
    if name in PRINTERS:
        return _files("Read", _operands(rest, PRINTERS[name]), folder)
    if name in LISTERS:
        return _files("Glob", _operands(rest, LISTERS[name]), folder, otherwise=".")
    if name in SEARCHERS:
        return _search(rest, SEARCHERS[name], folder)
    return None


def _operands(words: list[str], letters: str) -> list[str] | None:
    """Return the arguments that are not options; None if an option is not one of these letters."""
    found = []
    for before, word in pairwise(["", *words]):
        if word.startswith("-"):
            if not re.fullmatch(rf"-[{letters}]*\d*", word) or word == "-":
                return None
        elif not (before.startswith("-") and _NUMBER.fullmatch(word)):
            found.append(word)
    return found


def _files(tool: str, names: list[str] | None, folder: str, otherwise: str = "") -> list[Call] | None:
    names = [otherwise] if names == [] and otherwise else names
    if not names or any(name.startswith("-") for name in names):
        return None
    return [(tool, _where(tool, name, folder)) for name in names]


def _where(tool: str, name: str, folder: str) -> dict[str, Any]:
    path = str(PurePosixPath(folder, name))
    return {"file_path": path} if tool == "Read" else {"pattern": "*", "path": path}


def _search(words: list[str], letters: str, folder: str) -> list[Call] | None:
    listing = "--files" in words
    operands = _operands([word for word in words if word not in SEARCH_WORDS], letters)
    if operands is None or (not operands and not listing):
        return None
    pattern, places = ("*", operands) if listing else (operands[0], operands[1:])
    tool = "Glob" if listing else "Grep"
    found = [str(PurePosixPath(folder, place)) for place in places or ["."]]
    return [(tool, {"pattern": pattern, "path": path}) for path in found]
