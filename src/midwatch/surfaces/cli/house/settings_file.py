"""Edits midwatch.toml and keeps its comments and order; an edit that would change anything else is not written."""

import os
import tomllib
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from midwatch.errors import Misuse

FILE = "midwatch.toml"


def read(home: Path) -> str:
    """Read the file; empty where there is none."""
    file = home / FILE
    return file.read_text() if file.exists() else ""


def put(home: Path, text: str) -> None:
    """Replace the file in one step, readable by its owner only."""
    file = home / FILE
    beside = file.with_name(f".{FILE}.new")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(text)
    beside.replace(file)


class SecretLine:
    """The line that names a command for one secret; it can be removed again."""

    def __init__(self, home: Path, name: str) -> None:
        self._home = home
        self._name = name
        self._before: str | None = None

    def write(self, reference: str) -> None:
        text = read(self._home)
        changed = with_value(text, "secrets", self._name, reference)
        if changed != text:
            put(self._home, changed)
            self._before = text

    def undo(self) -> None:
        """Restore the file as it was before."""
        if self._before is not None:
            put(self._home, self._before)


def with_value(text: str, table: str, name: str, value: object) -> str:
    wanted = tomllib.loads(text)
    hint = f"Write it into [{table}] yourself: {tomlkit.dumps({name: value}).strip()}"
    refusal = Misuse(f"{FILE} cannot take {name} in [{table}] without other changes.", hint=hint)
    try:
        document = tomlkit.parse(text)
        plain, edited = _table(wanted, table), _table(document, table)
        if plain.get(name) == value:
            return text
        plain[name] = edited[name] = value
    except (TypeError, AttributeError, TOMLKitError):  # a value where the table should be, or TOML it cannot edit
        raise refusal from None
    return _checked(tomlkit.dumps(document), wanted, refusal)


def without_table(text: str, table: str) -> str:
    wanted, document = tomllib.loads(text), tomlkit.parse(text)
    outer, _, last = table.rpartition(".")
    plain, edited = _table(wanted, outer), _table(document, outer)
    if last not in plain:
        return text
    del plain[last], edited[last]
    refusal = Misuse(f"[{table}] cannot be removed from {FILE} without other changes.", hint="Remove it yourself.")
    return _checked(tomlkit.dumps(document).lstrip(), wanted, refusal)


def _table(tree: Any, table: str) -> Any:
    """Find a table by its dotted name, and add it if it is missing."""
    *outer, last = table.split(".") if table else [""]
    for part in outer:
        tree = tree.setdefault(part, tomlkit.table(is_super_table=True))
    return tree.setdefault(last, tomlkit.table()) if last else tree


def _checked(changed: str, wanted: object, refusal: Misuse) -> str:
    try:
        if _stripped(tomllib.loads(changed)) == _stripped(wanted):
            return changed
    except tomllib.TOMLDecodeError:
        pass
    raise refusal


def _stripped(tree: object) -> object:
    """Leave out empty tables."""
    return {name: value for name, value in tree.items() if value != {}} if isinstance(tree, dict) else tree
