"""Loads settings from default, file, stored versions, environment and flag: the last one that names a setting wins."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue, ValidationError

from midwatch.errors import Misuse
from midwatch.settings.folder import environment
from midwatch.settings.keys import KEYS, TABLES, key_named, shown
from midwatch.settings.sources import (
    SettingsSource,
    checked_for_storage,
    from_environment,
    from_file,
    from_flags,
    from_version,
)
from midwatch.settings.tree import Settings

DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting as people see it."""

    key: str
    value: JsonValue
    default: JsonValue
    source: str
    description: str
    waits: bool = False
    """Nothing reads it yet."""


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings in force, and where each value came from."""

    settings: Settings
    values: Mapping[str, JsonValue]
    """Values from any source other than the default."""
    sources: Mapping[str, str]

    def value_of(self, key: str) -> JsonValue:
        """The value in force, as JSON."""
        known = key_named(key)
        return self.values.get(known.name, known.default)

    def source_of(self, key: str) -> str:
        """Where the value came from: default, file, stored v3, environment or flag."""
        return self.sources.get(key_named(key).name, DEFAULT)

    def rows(self) -> tuple[SettingRow, ...]:
        """List every setting, passwords hidden."""
        return tuple(
            SettingRow(
                name, _shown(self.value_of(name)), key.default, self.source_of(name), key.description, waits=key.waits
            )
            for name, key in {**KEYS, **{name: key_named(name) for name in sorted(self.values)}}.items()
        )


def load_settings(
    home: Path,
    *,
    stored: Sequence[Mapping[str, JsonValue]] = (),
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, JsonValue] | None = None,
) -> LoadedSettings:
    """Read all places; `stored` are the applied versions, oldest first."""
    given = (
        from_file(home),
        *(from_version(number, changes) for number, changes in enumerate(stored, 1)),
        from_environment(environment() if environ is None else environ),
        from_flags(flags or {}),
    )
    return _loaded(given)


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One setting that would be different."""

    key: str
    old: JsonValue
    new: JsonValue
    overruled_by: str = ""
    """`environment` or `flag` where that overrides the change."""


def check_changes(changes: Mapping[str, JsonValue]) -> None:
    """Raise Misuse for the first unknown key or invalid value."""
    checked_for_storage(changes)


def diff(current: LoadedSettings, changes: Mapping[str, JsonValue]) -> tuple[SettingChange, ...]:
    """List what would change; raise Misuse where the result would contradict itself."""
    wanted = checked_for_storage(changes)
    stronger = {name: source for name, source in current.sources.items() if source in {"environment", "flag"}}
    # Checked as if nothing overrode it: the environment may be different at the next start.
    grown({**current.values, **wanted}, {**current.sources, **dict.fromkeys(wanted, "this change")})
    return tuple(
        SettingChange(name, current.value_of(name), value, stronger.get(name, ""))
        for name, value in wanted.items()
        if value != current.value_of(name) or name in stronger
    )


def _loaded(given: Sequence[SettingsSource]) -> LoadedSettings:
    values: dict[str, JsonValue] = {}
    sources: dict[str, str] = {}
    for place in given:
        values.update(place.values)
        sources.update(dict.fromkeys(place.values, place.source))
    return LoadedSettings(grown(values, sources), values, sources)


def grown(values: Mapping[str, JsonValue], sources: Mapping[str, str]) -> Settings:
    """Make the tree from single values that are each right; together they may still contradict each other."""
    sections: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        key = key_named(name)
        table, field = sections.setdefault(key.section, {}), key.field
        if key.section in TABLES:  # a table in a table
            whose, _, field = key.field.partition(".")
            table = table.setdefault(whose, {})
        table[field] = value
    try:
        return Settings.model_validate_json(json.dumps(sections), strict=True)
    except ValidationError as problem:
        raise _contradiction(problem.errors()[0], sources) from problem


def _contradiction(error: Any, sources: Mapping[str, str]) -> Misuse:
    section = str(error["loc"][0])
    said = str(error["msg"]).removeprefix("Value error, ")
    named = [f"{name} from {source}" for name, source in sources.items() if name.startswith(f"{section}.")]
    return Misuse(f"{said}.", hint=f"Change one of them: {', '.join(named)}; all others are defaults.")


def _shown(value: JsonValue) -> JsonValue:
    return str(shown(value)) if isinstance(value, str) else value
