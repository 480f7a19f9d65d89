"""Changes are typed, compared and checked before they are stored."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from midwatch.errors import Misuse
from midwatch.settings import KEYS, SettingChange, check_changes, diff, load_settings, parse_value
from tests.settings.samples import samples, typed


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("jobs.max_in_all", "5", 5),
        ("asks.spend_minutes", " 2.5 ", 2.5),
        ("autonomous.enabled", "true", True),
        ("autonomous.enabled", "off", False),
        ("notices.quiet_hours", "22:00-07:00", "22:00-07:00"),
        ("notices.quiet_hours", "", ""),
        ("gate.level", "cautious", "cautious"),
        ("gate.protected_projects", "shop, ledger", ["shop", "ledger"]),
        ("gate.protected_projects", "", []),
        ("gate.protected_projects", '["a, b"]', ["a, b"]),
        ("checkins.budget_percents", "50,100", [50, 100]),
    ],
)
def test_text_is_read_as_people_type_it(name: str, text: str, value: JsonValue) -> None:
    parsed = parse_value(name, text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("jobs.max_in_all", "five"),
        ("jobs.max_in_all", ""),
        ("autonomous.enabled", "perhaps"),
        ("checkins.budget_percents", "50,x"),
        ("gate.protected_projects", "[broken"),
        ("gate.protected_projects", "[1]"),
    ],
)
def test_text_that_means_nothing_is_refused(name: str, text: str) -> None:
    with pytest.raises(Misuse, match=f"{name} cannot be"):
        parse_value(name, text)


@pytest.mark.parametrize("name", KEYS)
def test_what_was_typed_can_be_stored(name: str) -> None:
    for value in samples(KEYS[name]):
        assert parse_value(name, typed(value)) == value
        if KEYS[name].storable:
            check_changes({name: value})


def test_a_difference_names_old_and_new_and_leaves_out_what_stays(tmp_path: Path) -> None:
    current = load_settings(tmp_path, stored=[{"jobs.max_in_all": 7}], environ={})
    changes: dict[str, JsonValue] = {"jobs.max_in_all": 3, "asks.spend_minutes": 60, "gate.level": "cautious"}
    assert diff(current, changes) == (
        SettingChange("jobs.max_in_all", 7, 3),
        SettingChange("gate.level", "observe", "cautious"),
    )


def test_a_change_that_something_stronger_overrules_says_so(tmp_path: Path) -> None:
    current = load_settings(tmp_path, environ={"MIDWATCH_JOBS__MAX_IN_ALL": "9"})
    assert diff(current, {"jobs.max_in_all": 3}) == (SettingChange("jobs.max_in_all", 9, 3, "environment"),)


def test_a_change_that_would_contradict_the_rest_is_refused(tmp_path: Path) -> None:
    current = load_settings(tmp_path, environ={})
    change: dict[str, JsonValue] = {"rounds.interval_seconds": 30}
    check_changes(change)
    with pytest.raises(Misuse, match="must be between") as refused:
        diff(current, change)
    assert "rounds.interval_seconds from this change" in refused.value.hint
    assert len(diff(current, {**change, "rounds.min_interval_seconds": 20})) == 2


def test_what_passed_as_a_difference_can_be_loaded(tmp_path: Path) -> None:
    change: dict[str, JsonValue] = {"rounds.interval_seconds": 30, "rounds.min_interval_seconds": 20}
    (first, second) = diff(load_settings(tmp_path, environ={}), change)
    loaded = load_settings(tmp_path, stored=[change], environ={})
    assert loaded.value_of(first.key) == first.new == 30
    assert loaded.value_of(second.key) == second.new == 20
