"""The highest place that names a setting wins, and says so."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from midwatch.settings import KEYS, LoadedSettings, load_settings
from tests.settings.samples import samples, toml, typed

Values = dict[str, JsonValue]
NAMES = sorted(name for name, key in KEYS.items() if key.storable)


@st.composite
def places(draw: st.DrawFn) -> tuple[Values, list[Values], Values, Values]:
    """File, stored versions, environment and flags that speak about the same few settings."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=5))
    one = st.fixed_dictionaries(
        {}, optional={name: st.sampled_from([KEYS[name].default, *samples(KEYS[name])]) for name in names}
    )
    return draw(one), draw(st.lists(one, max_size=3)), draw(one), draw(one)


def by_section(values: Values) -> str:
    """A file may open each table once only."""
    sections: dict[str, Values] = {}
    for name, value in values.items():
        sections.setdefault(KEYS[name].section, {})[name] = value
    return "".join(f"[{section}]\n" + _body(toml(inside)) for section, inside in sections.items())


def _body(text: str) -> str:
    return "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("["))


def load(
    file: Values | None = None,
    stored: Sequence[Mapping[str, JsonValue]] = (),
    environ: Values | None = None,
    flags: Values | None = None,
) -> LoadedSettings:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "midwatch.toml").write_text(by_section(file or {}))
        variables = {KEYS[name].variable: typed(value) for name, value in (environ or {}).items()}
        return load_settings(Path(folder), stored=stored, environ=variables, flags=flags)


def in_force(loaded: LoadedSettings, name: str) -> JsonValue:
    """The value as the tree itself has it."""
    section: dict[str, JsonValue] = getattr(loaded.settings, KEYS[name].section).model_dump(mode="json")
    return section[KEYS[name].field]


@given(places())
def test_the_highest_place_that_names_a_setting_wins(given: tuple[Values, list[Values], Values, Values]) -> None:
    file, stored, environ, flags = given
    loaded = load(file, stored, environ, flags)
    versions = [(f"stored v{number}", version) for number, version in enumerate(stored, 1)]
    ranked = [("file", file), *versions, ("environment", environ), ("flag", flags)]
    for name, key in KEYS.items():
        source, value = next(
            ((source, values[name]) for source, values in reversed(ranked) if name in values), ("default", key.default)
        )
        assert loaded.source_of(name) == source
        assert in_force(loaded, name) == value


def round_trips(name: str, place: str, value: JsonValue) -> None:
    given: Values = {name: value}
    loaded = {
        "file": lambda: load(file=given),
        "stored v2": lambda: load(stored=[{}, given]),
        "environment": lambda: load(environ=given),
        "flag": lambda: load(flags=given),
    }[place]()
    assert in_force(loaded, name) == value
    assert loaded.value_of(name) == value
    assert {row.key: row.source for row in loaded.rows() if row.source != "default"} == {name: place}
    assert next(row.value for row in loaded.rows() if row.key == name) == value


@pytest.mark.parametrize("name", KEYS)
def test_every_setting_can_be_set_in_every_place(name: str) -> None:
    places = ("file", "stored v2", "environment", "flag") if KEYS[name].storable else ("file", "environment", "flag")
    for place in places:
        for value in (KEYS[name].default, *samples(KEYS[name])):
            round_trips(name, place, value)


@pytest.mark.parametrize("name", [name for name in KEYS if name != "brain.max_concurrent_thinks"])
def test_every_setting_has_other_values_to_try(name: str) -> None:
    assert any(value != KEYS[name].default for value in samples(KEYS[name]))


def test_without_anything_there_are_defaults(tmp_path: Path) -> None:
    loaded = load_settings(tmp_path / "nowhere", environ={})
    assert {row.source for row in loaded.rows()} == {"default"}
    assert [row.value for row in loaded.rows()] == [row.default for row in loaded.rows()]
    assert [row.key for row in loaded.rows()] == list(KEYS)


def test_the_environment_of_the_process_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDWATCH_ASKS__SPEND_MINUTES", "7")
    monkeypatch.setenv("MIDWATCH_HOME", str(tmp_path))
    monkeypatch.setenv("MIDWATCH_TEST_ANYTHING", "x")
    loaded = load_settings(tmp_path)
    assert loaded.settings.asks.spend_minutes == 7
    assert loaded.source_of("asks.spend_minutes") == "environment"
