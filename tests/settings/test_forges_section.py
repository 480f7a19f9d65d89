"""Forges in the settings: each in a table of its own name, and where a token goes is said in the data folder only."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from midwatch.errors import Misuse, Refused, Unknown
from midwatch.settings import check_changes, load_settings, refuse_foreign
from midwatch.settings.tree import Settings

SAID = """
[forges.github]
secret = "gh"
labels = ["midwatch", "night"]
[forges.work]
speaks = "github"
base_url = "https://git.example.org/api/v3"
draft = true
"""


def loaded(home: Path, text: str = SAID) -> Settings:
    (home / "midwatch.toml").write_text(text)
    return load_settings(home, environ={"MIDWATCH_FORGES__WORK__SECRET": "other"}).settings


def test_a_repository_belongs_to_the_forge_at_its_host(tmp_path: Path) -> None:
    forges = loaded(tmp_path).forges
    named = forges.by_name()
    assert (named["github"].labels, named["work"].draft, named["work"].secret) == (("midwatch", "night"), True, "other")
    for source, forge in (
        ("https://github.com/ada/shop.git", "github"),
        ("git@github.com:ada/shop.git", "github"),
        ("ssh://git@GitHub.com/ada/shop", "github"),
        ("https://git.example.org/ada/shop", "work"),
        ("https://github.com.evil.example/ada/shop", "local"),
        ("https://github.com@evil.example/ada/shop", "local"),
        ("https://evil.example/github.com/shop", "local"),
        ("/home/ada/github.com/shop", "local"),
    ):
        assert forges.at(source) == forge, source


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("speaks", "github"),
        ("base_url", "https://evil.example"),
        ("host", "evil.example"),
        ("secret", "bank"),
        ("webhook_secret", "known-to-me"),
    ],
)
def test_where_a_token_goes_is_not_chosen_from_afar(name: str, value: JsonValue) -> None:
    with pytest.raises(Misuse, match="only the data folder or the environment may"):
        check_changes({f"forges.github.{name}": value})
    check_changes({"forges.github.labels": ["night"]})


@pytest.mark.parametrize("address", ["http://git.example.org/api/v3", "https://ada:pw@git.example.org", "ftp://x"])
def test_a_token_leaves_only_protected(tmp_path: Path, address: str) -> None:
    with pytest.raises(Misuse):
        loaded(tmp_path, f'[forges.work]\nbase_url = "{address}"\n')


def test_names_and_fields_are_checked(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"A forge .* has an invalid name"):
        loaded(tmp_path, '[forges.local]\nsecret = "x"\n')
    with pytest.raises(Unknown) as caught:
        loaded(tmp_path, '[forges.github]\nlabel = ["x"]\n')
    assert caught.value.hint == "Did you mean forges.github.labels?"


def test_a_project_cannot_be_given_to_a_foreign_forge(tmp_path: Path) -> None:
    settings = loaded(tmp_path)
    refuse_foreign(settings, "github", "git@github.com:ada/shop.git")
    refuse_foreign(settings, "local", "https://evil.example/x")
    with pytest.raises(Refused, match="github hosts repositories at"):
        refuse_foreign(settings, "github", "https://git.example.org/ada/shop")
    with pytest.raises(Unknown, match="No forge is called gitlab"):
        refuse_foreign(settings, "gitlab", "https://gitlab.com/ada/shop")
