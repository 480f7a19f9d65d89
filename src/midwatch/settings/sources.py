"""The places settings come from, each read and checked by itself."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pydantic import JsonValue

from midwatch.errors import Misuse, Unknown
from midwatch.settings.keys import KEYS, PREFIX, SECRETS, TABLES, SettingKey, has_password, key_named
from midwatch.settings.reach import SettingReach
from midwatch.settings.tree import Settings

FILE: Final = "midwatch.toml"
NOT_SETTINGS: Final = re.compile(r"MIDWATCH_(HOME|REQUIRE|TEST_.*)")
_LINE = re.compile(r"^(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """What one place says, by dotted key."""

    source: str
    values: Mapping[str, JsonValue]


def from_file(home: Path) -> SettingsSource:
    """Read midwatch.toml in the data folder; a missing file counts as empty."""
    path = home / FILE
    where = f"in {path}"
    return SettingsSource("file", _checked(_flat(_toml(path), where), where))


def from_version(number: int, changes: Mapping[str, JsonValue]) -> SettingsSource:
    """Read one stored version."""
    return SettingsSource(f"stored v{number}", checked_for_storage(changes, f"in stored settings v{number}"))


def from_environment(environ: Mapping[str, str]) -> SettingsSource:
    """Read the variables that begin with MIDWATCH_ and are settings."""
    by_variable = {key.variable: key for key in KEYS.values()}
    values: dict[str, JsonValue] = {}
    for name in sorted(environ):
        if not name.startswith(PREFIX) or NOT_SETTINGS.fullmatch(name):
            continue
        key = by_variable.get(name) or _named(name)
        if key is None:
            near = get_close_matches(name, by_variable, n=1, cutoff=0.6)
            hint = f"Did you mean {near[0]}?" if near else f"They look like {PREFIX}ASKS__SPEND_MINUTES."
            raise Unknown(f"The environment variable {name} is not a setting.", hint=hint)
        values[key.name] = key.read(environ[name], f"in {name}")
    return SettingsSource("environment", values)


def _named(variable: str) -> SettingKey | None:
    """Find the secret, agent, channel or forge a variable is about; there, case does not matter."""
    for section in (SECRETS, *TABLES):
        before = f"{PREFIX}{section}__".upper()
        name = variable.removeprefix(before)
        if name != variable:
            return key_named(f"{section}.{name.lower().replace('__', '.')}", f"in {before}...")
    return None


def from_flags(flags: Mapping[str, JsonValue]) -> SettingsSource:
    """Read what was given on the command line."""
    return SettingsSource("flag", _checked(flags, "as a flag"))


def checked_for_storage(changes: Mapping[str, JsonValue], where: str = "") -> dict[str, JsonValue]:
    """Check values for a stored version, which may not hold what opens the database."""
    for name in changes:
        key = key_named(name, where)
        if key.reach is SettingReach.PROGRAM:
            raise Misuse(
                f"{name} decides what runs or where secrets go; only the data folder or the environment may set it.",
                hint=f"Write it into {FILE} in the data folder, or set {key.variable}.",
            )
        if not key.storable:
            raise Misuse(
                f"{name} is needed before stored settings can be read.",
                hint=f"Write it into {FILE} in the data folder, or set {key.variable}.",
            )
        if key.section == SECRETS and str(changes[name]).strip().startswith("cmd:"):
            # A remote change of settings must not run programs here.
            raise Misuse(
                f"{name} names a command; only the data folder or the environment may do that.",
                hint=f"Write it into {FILE} in the data folder, or set {key.variable}.",
            )
    return _checked(changes, where)


def _checked(values: Mapping[str, JsonValue], where: str) -> dict[str, JsonValue]:
    return {name: _public(key_named(name, where), value, where) for name, value in values.items()}


def _public(key: SettingKey, value: JsonValue, where: str) -> JsonValue:
    """Refuse passwords in everything that is copied, backed up or listed; the environment is none of these."""
    if has_password(value):
        raise Misuse(
            f"{key.name} contains a password {where}.",
            hint=f"Set the whole value in the environment as {key.variable}.",
        )
    return key.accept(value, where)


def _flat(tables: Mapping[str, Any], where: str) -> dict[str, JsonValue]:
    """A table's name goes before its keys; text must be quoted, since a bare date or time is not a setting."""
    values: dict[str, JsonValue] = {}
    for name, table in tables.items():
        if isinstance(table, dict) and (table or name in Settings.model_fields):
            values.update({f"{name}.{field}": _plain(value) for field, value in _fields(name, table)})
        else:
            key_named(name, where)
            values[name] = _plain(table)
    return values


def _fields(section: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Give what a table says; an agent's own table is inside the table of agents, and so on."""
    for field, value in table.items():
        if section in TABLES and isinstance(value, dict):
            yield from ((f"{field}.{inner}", deeper) for inner, deeper in value.items())
        else:
            yield field, value


def _plain(value: Any) -> JsonValue:
    """TOML knows dates and times, JSON does not; as text they can be checked like any other value."""
    plain: JsonValue = json.loads(json.dumps(value, default=str))
    return plain


def _toml(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise Misuse(f"{path} cannot be read: {problem.strerror}.", hint="Let Midwatch's user read it.") from problem
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        before = data[: problem.start]
        line, column = before.count(b"\n") + 1, problem.start - before.rfind(b"\n")
        said = f"{path}, line {line}, column {column}: not UTF-8 text."
        raise Misuse(said, hint="Save the file as UTF-8.") from problem
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise _broken(path, text, str(problem)) from problem


def _broken(path: Path, text: str, said: str) -> Misuse:
    found = _LINE.match(said)
    lines = text.splitlines() or [""]
    what = found["what"] if found else said
    line = (found and found["line"]) or len(lines)
    column = (found and found["column"]) or len(lines[-1]) + 1
    return Misuse(f"{path}, line {line}, column {column}: {what}.", hint="Fix that line; the file is TOML.")
