"""What settings refuse, and how they say so."""

import pickle
from pathlib import Path

import pytest
from pydantic import JsonValue

from midwatch.errors import Misuse, Unknown
from midwatch.settings import KEYS, check_changes, diff, load_settings, parse_value

TYPO = "asks.aprove_plan_minutes"
MEANT = "asks.approve_plan_minutes"


def write(home: Path, text: str) -> Path:
    (home / "midwatch.toml").write_text(text)
    return home


def refused_file(home: Path, text: str) -> Misuse:
    with pytest.raises(Misuse) as refused:
        load_settings(write(home, text), environ={})
    return refused.value


def test_a_typo_is_refused_everywhere_with_what_was_meant(tmp_path: Path) -> None:
    home = tmp_path / "empty"
    with pytest.raises(Unknown) as in_stored:
        load_settings(home, stored=[{}, {TYPO: 3}], environ={})
    with pytest.raises(Unknown) as in_flags:
        load_settings(home, environ={}, flags={TYPO: 3})
    with pytest.raises(Unknown) as in_changes:
        check_changes({TYPO: 3})
    with pytest.raises(Unknown) as in_diff:
        diff(load_settings(home, environ={}), {TYPO: 3})
    with pytest.raises(Unknown) as in_text:
        parse_value(TYPO, "3")
    with pytest.raises(Unknown) as in_source:
        load_settings(home, environ={}).source_of(TYPO)
    in_file = refused_file(tmp_path, "[asks]\naprove_plan_minutes = 3\n")
    refusals = [each.value for each in (in_stored, in_flags, in_changes, in_diff, in_text, in_source)]
    for refusal in (in_file, *refusals):
        assert TYPO in refusal.message
        assert refusal.hint == f"Did you mean {MEANT}?"
    assert "stored settings v2" in in_stored.value.message
    assert str(tmp_path / "midwatch.toml") in in_file.message


def test_a_misspelt_variable_is_refused_with_what_was_meant(tmp_path: Path) -> None:
    with pytest.raises(Unknown) as refused:
        load_settings(tmp_path, environ={"MIDWATCH_ASKS__APPROVE_PLAN_MINUTE": "3"})
    assert "MIDWATCH_ASKS__APPROVE_PLAN_MINUTE" in refused.value.message
    assert refused.value.hint == "Did you mean MIDWATCH_ASKS__APPROVE_PLAN_MINUTES?"


@pytest.mark.parametrize("name", ["MIDWATCH_LEVEL", "MIDWATCH_ASKS_SPEND_MINUTES", "MIDWATCH_", "MIDWATCH_HOMES"])
def test_a_variable_with_our_name_must_be_a_setting(name: str, tmp_path: Path) -> None:
    with pytest.raises(Unknown):
        load_settings(tmp_path, environ={name: "3"})


def test_variables_that_are_no_settings_are_left_alone(tmp_path: Path) -> None:
    others = {"MIDWATCH_HOME": "/x", "MIDWATCH_REQUIRE": "postgres", "MIDWATCH_TEST_SPEED": "9", "HOME": "/root"}
    assert not load_settings(tmp_path, environ=others).sources


def test_a_key_without_its_section_is_recognised() -> None:
    with pytest.raises(Unknown) as refused:
        check_changes({"approve_plan_minutes": 3})
    assert refused.value.hint == f"Did you mean {MEANT}?"


def test_a_key_like_nothing_points_to_the_list() -> None:
    with pytest.raises(Unknown) as refused:
        check_changes({"zzz": 3})
    assert "midwatch settings" in refused.value.hint


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        (MEANT, 0, "a number above 0 up to 40,320"),
        (MEANT, "soon", "a number above 0 up to 40,320"),
        (MEANT, True, "a number above 0 up to 40,320"),
        (MEANT, None, "a number above 0 up to 40,320"),
        (MEANT, float("nan"), "a number above 0 up to 40,320"),
        (MEANT, float("inf"), "a number above 0 up to 40,320"),
        ("jobs.max_in_all", "5", "a whole number from 1 up to 100"),
        ("jobs.max_in_all", 1.5, "a whole number from 1 up to 100"),
        ("brain.max_concurrent_thinks", 2, "a whole number from 1 up to 1"),
        ("autonomous.enabled", 1, "true or false"),
        ("autonomous.enabled", "true", "true or false"),
        ("gate.level", "reckless", "one of observe, cautious, moderate, full"),
        ("execution.commit_strategy", "none", "one of incremental, single"),
        ("gate.protected_projects", "shop", "a list, each a text of 1 to 200 characters"),
        ("gate.protected_projects", [""], "a list, each a text of 1 to 200 characters"),
        ("checkins.budget_percents", [50, 101], "a list, each a whole number from 1 up to 100"),
        ("notices.quiet_hours", "22-7", "a span such as 22:00-07:00"),
        ("notices.quiet_hours", "22:00-24:00", "a span such as 22:00-07:00"),
        ("notices.digest_time", "7:00", "a time of day such as 07:00"),
        ("server.time_zone", "Mars/Olympus", "a time zone such as Europe/Berlin"),
        ("server.time_zone", "../etc/passwd", "a time zone such as Europe/Berlin"),
    ],
)
def test_a_refusal_names_key_value_and_what_is_allowed(name: str, value: JsonValue, allowed: str) -> None:
    with pytest.raises(Misuse) as refused:
        check_changes({name: value})
    assert refused.value.message.startswith(f"{name} cannot be {value!r}")
    assert allowed in refused.value.message
    assert refused.value.hint == KEYS[name].description
    assert pickle.loads(pickle.dumps(refused.value)).message == refused.value.message


def test_a_bad_value_names_the_place_it_stood_in(tmp_path: Path) -> None:
    assert str(tmp_path / "midwatch.toml") in refused_file(tmp_path, "[jobs]\nmax_in_all = 0\n").message
    with pytest.raises(Misuse, match="in MIDWATCH_JOBS__MAX_IN_ALL"):
        load_settings(tmp_path / "empty", environ={"MIDWATCH_JOBS__MAX_IN_ALL": "many"})
    with pytest.raises(Misuse, match="in stored settings v1"):
        load_settings(tmp_path / "empty", stored=[{"jobs.max_in_all": 0}], environ={})
    with pytest.raises(Misuse, match="as a flag"):
        load_settings(tmp_path / "empty", environ={}, flags={"jobs.max_in_all": 0})


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[asks]\nspend_minutes = 5\n[jobs\n", "line 3, column 6"),
        ("[asks]\nspend_minutes =\n", "line 2, column 16"),
        ("[asks]\nspend_minutes = 5\nspend_minutes = 6", "line 3, column 18"),
        ('[brain]\nmodel = "open', "line 2, column 14"),
    ],
)
def test_a_broken_file_names_line_and_column(text: str, place: str, tmp_path: Path) -> None:
    assert f"{tmp_path / 'midwatch.toml'}, {place}: " in refused_file(tmp_path, text).message


def test_a_file_that_is_no_text_names_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "midwatch.toml").write_bytes(b'[brain]\nmodel = "\xff"\n')
    with pytest.raises(Misuse, match="line 2, column 10: not UTF-8"):
        load_settings(tmp_path, environ={})


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "midwatch.toml").mkdir()
    with pytest.raises(Misuse, match="cannot be read"):
        load_settings(tmp_path, environ={})


@pytest.mark.parametrize("text", ["asks = 3\n", "[nowhere]\n", "[asks.spend_minutes]\nx = 1\n", "level = 'full'\n"])
def test_a_file_of_another_shape_is_refused(text: str, tmp_path: Path) -> None:
    refused_file(tmp_path, text)


def test_a_bare_time_in_the_file_is_refused_by_its_key(tmp_path: Path) -> None:
    assert (
        "notices.digest_time cannot be '07:00:00'"
        in refused_file(tmp_path, "[notices]\ndigest_time = 07:00:00\n").message
    )


def test_settings_that_contradict_each_other_are_refused_with_their_places(tmp_path: Path) -> None:
    home = write(tmp_path, "[rounds]\nmin_interval_seconds = 400\n")
    with pytest.raises(Misuse, match="must be between") as refused:
        load_settings(home, environ={})
    assert "rounds.min_interval_seconds from file" in refused.value.hint


def test_a_password_is_taken_from_the_environment_only(tmp_path: Path) -> None:
    url = "postgresql://night:s3cret@db/house"
    loaded = load_settings(tmp_path, environ={"MIDWATCH_DATABASE__URL": url})
    assert loaded.settings.database.url == url
    assert next(row.value for row in loaded.rows() if row.key == "database.url") == "postgresql://night:***@db/house"
    with pytest.raises(Misuse, match="contains a password") as in_flag:
        load_settings(tmp_path, environ={}, flags={"database.url": f"{url}?sslpassword=s3cret"})
    in_file = refused_file(tmp_path, f"[database]\nurl = '{url}'\n")
    for refusal in (in_file, in_flag.value):
        assert "s3cret" not in repr(refusal)
        assert "MIDWATCH_DATABASE__URL" in refusal.hint


def test_a_wrong_address_is_refused_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(Misuse) as refused:
        load_settings(tmp_path, environ={"MIDWATCH_DATABASE__URL": "mysql://night:s3cret@db/house"})
    assert "mysql://night:***@db/house" in refused.value.message
    assert refused.value.__cause__ is None


def test_what_opens_the_database_cannot_be_stored_in_it() -> None:
    with pytest.raises(Misuse, match="before stored settings") as refused:
        check_changes({"database.url": "sqlite:////srv/x.db"})
    assert "midwatch.toml" in refused.value.hint
