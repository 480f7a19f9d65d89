"""Secrets are named in the settings by where they are kept; what they are stands nowhere."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import JsonValue

from midwatch.errors import Misuse
from midwatch.settings import check_changes, diff, load_settings, parse_value, secret_references

VALUE = "ghp-the-owl-flies-at-0400"


def written(home: Path, *lines: str) -> Path:
    (home / "midwatch.toml").write_text("\n".join(["[secrets]", *lines]))
    return home


def test_every_place_may_name_a_secret_and_the_last_wins(tmp_path: Path) -> None:
    home = written(tmp_path, 'deploy = "env:DEPLOY"', 'Chat-2 = "cmd:pass show chat"', 'gone = "env:GONE"')
    loaded = load_settings(
        home,
        stored=[{"secrets.deploy": "file:/srv/deploy"}, {"secrets.gone": ""}],
        environ={"MIDWATCH_SECRETS__HOOK": "env:HOOK"},
        flags={"secrets.deploy": "file:/run/deploy"},
    )
    references = {name: str(reference) for name, reference in secret_references(loaded.settings).items()}
    assert references == {"deploy": "file:/run/deploy", "Chat-2": "cmd:pass show chat", "hook": "env:HOOK"}
    assert loaded.source_of("secrets.deploy") == "flag"
    assert loaded.source_of("secrets.hook") == "environment"


def test_no_secret_at_all_is_fine(tmp_path: Path) -> None:
    assert secret_references(load_settings(written(tmp_path), environ={}).settings) == {}
    assert secret_references(load_settings(tmp_path / "empty", environ={}).settings) == {}


def test_the_list_shows_references(tmp_path: Path) -> None:
    loaded = load_settings(written(tmp_path, 'deploy = "env:DEPLOY"'), environ={})
    (row,) = [row for row in loaded.rows() if row.key.startswith("secrets.")]
    assert (row.key, row.value, row.source) == ("secrets.deploy", "env:DEPLOY", "file")
    assert row.description.endswith(".")


@pytest.mark.parametrize("value", [VALUE, 123456789, ["env:A", VALUE], f"vault:{VALUE}", "env:", True])
def test_a_secret_itself_is_refused_everywhere_and_not_repeated(value: JsonValue, tmp_path: Path) -> None:
    text = f"{value}"
    quoted = f'deploy = "{value}"' if isinstance(value, str) else f"deploy = {str(value).lower()}"
    attempts: list[Callable[[], object]] = [
        lambda: load_settings(written(tmp_path, quoted), environ={}),
        lambda: load_settings(tmp_path / "none", stored=[{"secrets.deploy": value}], environ={}),
        lambda: load_settings(tmp_path / "none", environ={"MIDWATCH_SECRETS__DEPLOY": text}),
        lambda: load_settings(tmp_path / "none", environ={}, flags={"secrets.deploy": value}),
        lambda: check_changes({"secrets.deploy": value}),
        lambda: diff(load_settings(tmp_path / "none", environ={}), {"secrets.deploy": value}),
        lambda: parse_value("secrets.deploy", text),
    ]
    for attempt in attempts:
        with pytest.raises(Misuse, match=r"secrets\.deploy must say where") as refused:
            attempt()
        assert "env:NAME" in refused.value.hint
        assert VALUE not in f"{refused.value.message} {refused.value.hint} {refused.value.__cause__}"
        assert "123456789" not in refused.value.message


@pytest.mark.parametrize("name", ["", "a b", "a.b", "ä", "x" * 65, VALUE + "!"])
def test_a_name_that_will_not_do_is_refused_and_not_repeated(name: str) -> None:
    with pytest.raises(Misuse) as refused:
        check_changes({f"secrets.{name}": "env:A"})
    assert VALUE not in refused.value.message
    assert "letters" in refused.value.hint


def test_a_command_cannot_be_named_from_afar(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="names a command") as refused:
        check_changes({"secrets.deploy": "cmd:cat /etc/passwd"})
    assert "midwatch.toml" in refused.value.hint
    with pytest.raises(Misuse, match="names a command"):
        load_settings(tmp_path, stored=[{"secrets.deploy": " cmd:cat x"}], environ={})
