"""Writing single lines into midwatch.toml: everything else in it stays as it is, or nothing is written."""

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from midwatch.errors import Misuse

FILE = "midwatch.toml"
NEXT_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def read(home: Path) -> str:
    """Read the file; none is as good as an empty one."""
    file = home / FILE
    return file.read_text() if file.exists() else ""


def put(home: Path, text: str) -> None:
    """Replace the file as a whole; who could read it before still can."""
    file = home / FILE
    mode = file.stat().st_mode & 0o777 if file.exists() else 0o600
    beside = file.with_name(f".{FILE}.new")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as out:
        out.write(text)
    beside.replace(file)


def with_value(text: str, table: str, name: str, value: object) -> str:
    """Write one value into a table of the file's text, and see that nothing else became different."""
    wanted = tomllib.loads(text)
    inner = _inner(wanted, table)
    if inner.get(name) == value:
        return text
    inner[name] = value
    line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    for candidate in (text, _without_line(text, table, name)):
        found = _header(table).search(candidate)
        if found:
            changed = f"{candidate[: found.end()]}\n{line}{candidate[found.end() :]}"
        else:
            changed = f"{candidate.rstrip()}\n\n[{table}]\n{line}\n".lstrip()
        if _reads(changed) == wanted:
            return changed
    raise Misuse(f"The line cannot be put into {FILE} by itself.", hint=f"Write it into [{table}] yourself: {line}")


def without_table(text: str, table: str) -> str:
    """Take a whole table out of the file's text, and see that nothing else became different."""
    found = _header(table).search(text)
    if found is None:
        return text
    outer, _, last = table.rpartition(".")
    wanted = tomllib.loads(text)
    del (_inner(wanted, outer) if outer else wanted)[last]
    changed = f"{text[: found.start()].rstrip()}\n\n{text[_end(text, found.end()) :]}".lstrip()
    if _stripped(_reads(changed)) != _stripped(wanted):
        raise Misuse(f"[{table}] cannot be taken out of {FILE} by itself.", hint=f"Take it out of {FILE} yourself.")
    return changed


def _inner(tree: dict[str, Any], table: str) -> dict[str, Any]:
    for part in table.split("."):
        tree = tree.setdefault(part, {})
    return tree


def _header(table: str) -> re.Pattern[str]:
    return re.compile(rf"^\[{re.escape(table)}\][ \t]*(?:#.*)?$", re.MULTILINE)


def _end(text: str, start: int) -> int:
    following = NEXT_TABLE.search(text, start)
    return following.start() if following else len(text)


def _without_line(text: str, table: str, name: str) -> str:
    found = _header(table).search(text)
    if found is None:
        return text
    end = _end(text, found.end())
    inside = re.sub(rf"^{re.escape(name)}[ \t]*=.*\n?", "", text[found.end() : end], flags=re.MULTILINE)
    return text[: found.end()] + inside + text[end:]


def _stripped(tree: object) -> object:
    """An empty table says nothing."""
    return {name: value for name, value in tree.items() if value != {}} if isinstance(tree, dict) else tree


def _reads(text: str) -> object:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
