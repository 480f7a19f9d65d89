"""Sections whose names the person chooses: agents with their programs and models, and what models cost (X15, N27)."""

import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from midwatch.crew.roster import recruit
from midwatch.errors import Misuse, Unknown
from midwatch.gateway.metering.grant import models_of
from midwatch.settings import check_changes, diff, load_settings, parse_value

SONNET = "anthropic/claude-sonnet-4-5"


def written(home: Path, text: str) -> Path:
    (home / "midwatch.toml").write_text(text)
    return home


def test_every_place_may_set_an_agent_up_and_the_last_wins(tmp_path: Path) -> None:
    home = written(
        tmp_path,
        '[agents.claude]\nmodel = "a"\nsecret = "key"\nprogram = "/opt/claude"\n'
        '[agents.my-agent]\nspeaks = "command"\nwords = ["--file", "{prompt}"]\n',
    )
    loaded = load_settings(
        home,
        stored=[{"agents.claude.model": "b", "agents.claude.credential": "oauth"}, {"agents.codex.model": "c"}],
        environ={"MIDWATCH_AGENTS__CLAUDE__MODEL": "d", "MIDWATCH_AGENTS__CODEX__BASE_URL": "https://x.example/v1"},
        flags={"agents.codex.secret": "other"},
    )
    agents = loaded.settings.agents.by_name()
    assert sorted(agents) == ["claude", "codex", "my-agent"]
    claude = agents["claude"]
    assert (claude.model, claude.secret, claude.program, claude.credential) == ("d", "key", "/opt/claude", "oauth")
    assert (agents["my-agent"].speaks, agents["my-agent"].words) == ("command", ("--file", "{prompt}"))
    assert agents["codex"].base_url == "https://x.example/v1"
    sources = {
        name: loaded.source_of(f"agents.{name}") for name in ("claude.model", "claude.credential", "codex.secret")
    }
    assert sources == {"claude.model": "environment", "claude.credential": "stored v1", "codex.secret": "flag"}
    assert loaded.source_of("agents.claude.provider") == "default"
    assert loaded.value_of("agents.claude.provider") == ""


def test_an_agent_may_have_further_models(tmp_path: Path) -> None:
    text = '[agents.claude]\nmodel = "claude-sonnet-4-5[1m]"\nalso_models = ["claude-haiku-4-5"]\n'
    setup = load_settings(written(tmp_path, text), environ={}).settings.agents.by_name()["claude"]
    access = recruit("claude", setup, frozenset(), lambda *_, **__: "").access
    assert access is not None
    assert models_of(access) == {"claude-sonnet-4-5", "claude-haiku-4-5"}


def test_no_agent_at_all_is_fine(tmp_path: Path) -> None:
    for text in ("", "[agents]\n", "[agents]\n[prices]\n"):
        settings = load_settings(written(tmp_path, text), environ={}).settings
        assert settings.agents.by_name() == {}
        assert settings.prices.by_model() == {}


def test_the_list_shows_what_was_set_with_what_it_means(tmp_path: Path) -> None:
    loaded = load_settings(written(tmp_path, '[agents.claude]\nmodel = "m"\n'), environ={})
    (row,) = [row for row in loaded.rows() if row.key.startswith("agents.")]
    assert (row.key, row.value, row.source) == ("agents.claude.model", "m", "file")
    assert row.description.startswith("The model")


@pytest.mark.parametrize(
    ("name", "value"),
    [("speaks", "command"), ("program", "/bin/sh"), ("words", ["-c", "x"]), ("base_url", "https://evil.example")],
)
def test_what_runs_here_and_where_a_credential_goes_is_not_chosen_from_afar(
    name: str, value: JsonValue, tmp_path: Path
) -> None:
    key = f"agents.claude.{name}"
    for attempt in (
        lambda: check_changes({key: value}),
        lambda: load_settings(tmp_path, stored=[{key: value}], environ={}),
        lambda: diff(load_settings(tmp_path, environ={}), {key: value}),
    ):
        with pytest.raises(Misuse, match="only the data folder or the environment may") as refused:
            attempt()
        assert f"MIDWATCH_AGENTS__CLAUDE__{name.upper()}" in refused.value.hint
    check_changes({"agents.claude.model": "m"})


def test_a_misspelt_field_is_refused_with_what_was_meant(tmp_path: Path) -> None:
    with pytest.raises(Unknown) as in_changes:
        check_changes({"agents.claude.modle": "m"})
    with pytest.raises(Unknown) as in_file:
        load_settings(written(tmp_path, '[agents.claude]\nmodle = "m"\n'), environ={})
    with pytest.raises(Unknown) as in_variable:
        load_settings(tmp_path / "empty", environ={"MIDWATCH_AGENTS__CLAUDE__MODLE": "m"})
    for refused in (in_changes, in_file, in_variable):
        assert "agents.claude.modle" in refused.value.message
        assert refused.value.hint == "Did you mean agents.claude.model?"
    with pytest.raises(Unknown) as strange:
        check_changes({"agents.claude.zzz": "m"})
    assert "speaks, program, words" in strange.value.hint
    with pytest.raises(Unknown):
        load_settings(written(tmp_path, '[agents]\nclaude = "m"\n'), environ={})
    with pytest.raises(Misuse, match=r"agents\.claude\.model cannot be"):
        load_settings(written(tmp_path, '[agents.claude.model]\nx = "m"\n'), environ={})


@pytest.mark.parametrize("name", ["", "Claude", "my agent", "9lives", "a_b", "a" * 65, "housekeeper", "../x", "-x"])
def test_an_agent_s_name_that_will_not_do_is_refused(name: str) -> None:
    with pytest.raises(Misuse, match="An agent has an invalid name") as refused:
        check_changes({f"agents.{name}.model": "m"})
    assert "small letters" in refused.value.hint


@pytest.mark.parametrize(
    ("about", "value", "allowed"),
    [
        ("speaks", "telnet", "one of"),
        ("provider", "someone", "one of"),
        ("credential", "cookie", "one of api_key, oauth"),
        ("model", "m" * 201, "up to 200 characters"),
        ("model", 5, "up to 200 characters"),
    ],
)
def test_a_value_that_will_not_do_says_what_is_allowed(
    about: str, value: JsonValue, allowed: str, tmp_path: Path
) -> None:
    home = written(tmp_path, f"[agents.claude]\n{about} = {json.dumps(value)}\n")
    with pytest.raises(Misuse, match=f"agents.claude.{about} cannot be") as refused:
        load_settings(home, environ={})
    assert allowed in refused.value.message


@pytest.mark.parametrize("url", ["ftp://x", "x.example", "https://ann:pw@x.example", "https://a b"])
def test_an_address_is_a_plain_web_address(url: str, tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="base_url") as refused:
        load_settings(tmp_path, environ={"MIDWATCH_AGENTS__CLAUDE__BASE_URL": url})
    assert "pw" not in refused.value.message


def test_prices_are_named_by_provider_and_model_in_every_place(tmp_path: Path) -> None:
    home = written(tmp_path, f'[prices]\n"{SONNET}" = [3, 15]\n"openai/gpt-4.1" = [2.5, 10, 1.25]\n')
    loaded = load_settings(home, stored=[{f"prices.{SONNET}": [4, 20, 0.4, 5]}], environ={})
    prices = loaded.settings.prices.by_model()
    assert prices == {SONNET: (4, 20, 0.4, 5), "openai/gpt-4.1": (2.5, 10, 1.25)}
    assert loaded.source_of(f"prices.{SONNET}") == "stored v1"
    assert parse_value(f"prices.{SONNET}", "3, 15") == [3, 15]


@pytest.mark.parametrize("rates", [[], [3], [1, 2, 3, 4, 5], [-1, 2], ["3", "15"], 3, "cheap", [1, float("nan")]])
def test_a_price_is_two_to_four_numbers(rates: JsonValue) -> None:
    with pytest.raises(Misuse, match="dollars per million tokens"):
        check_changes({f"prices.{SONNET}": rates})


@pytest.mark.parametrize("name", ["", "sonnet", "/sonnet", "anthropic/", "Anthropic/x", "a b/c", "a/b c"])
def test_a_price_without_provider_and_model_is_refused(name: str) -> None:
    with pytest.raises(Misuse, match="A price has an invalid name") as refused:
        check_changes({f"prices.{name}": [1, 2]})
    assert "anthropic/claude-sonnet-4-5" in refused.value.hint
