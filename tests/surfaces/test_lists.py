"""Every noun lists its things the same way, and a script can read each list, however little there is."""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import typer.main

from midwatch.surfaces.cli import main as cli
from tests.nights.house import a_house, orders, sample_repository
from tests.surfaces.person import Person, a_person

NOUNS = ("project", "goal", "work", "job", "pr", "run", "night", "person", "token", "agent", "forge", "channel")
LISTS = (*NOUNS, "asks", "settings")
ALONE = ("authority",)
"""A list whose word is no noun of many."""
ALWAYS = {"agent", "forge", "settings"}
"""These list something in every house."""
PLACES = ("empty", "filled")


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every verb and every word after it, as typer has it."""

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        yield path, command
        for name, child in getattr(command, "commands", {}).items():
            yield from walk(child, (*path, name))

    for verb, (module, _) in cli.VERBS.items():
        loaded = __import__(f"midwatch.surfaces.cli.{module}", fromlist=["VERBS"])
        yield from walk(typer.main.get_command(loaded.VERBS[verb]), (verb,))


def options(command: Any) -> set[str]:
    return {option for param in command.params for option in param.opts}


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A house where nothing happened yet, and one after a night; no server runs in either."""
    folder = tmp_path_factory.mktemp("lists")

    async def made() -> None:
        async with a_house(folder / "empty"):
            pass
        async with a_house(folder / "filled") as opened:
            await opened.project(sample_repository(folder / "sample"))
            await opened.begin(orders("Tidy up"))
            await opened.to_the_brief()
            await opened.settle()

    asyncio.run(made())
    return {name: folder / name for name in PLACES}


@contextmanager
def at(home: Path) -> Iterator[Person]:
    with a_person(up=False) as someone:
        someone.environment["MIDWATCH_HOME"] = str(home)
        yield someone


def test_every_noun_has_a_list_and_every_list_can_be_read_by_scripts() -> None:
    known = dict(commands())
    listing = {path[0] for path in known if path[1:] == ("list",)}
    assert listing == {*LISTS} - {"asks"}, "asks takes list as the name of an ask"
    for noun in LISTS:
        assert "--json" in options(known[noun,]), noun
    for path, command in known.items():
        said = (command.help or "").lower()
        if "list" in path or (said.startswith(("list ", "show ")) and path != ("job", "attach")):
            assert "--json" in options(command) or path in {("job", "line"), ("settings", "diff")}, path


@pytest.mark.parametrize("place", PLACES)
def test_every_list_is_one_json_document_with_utc_times_and_numbers_for_money(
    homes: dict[str, Path], place: str
) -> None:
    with at(homes[place]) as person:
        for noun in (*LISTS, *ALONE):
            alone = person.types(noun, "--json")
            assert alone.err == "", noun
            assert isinstance(alone.json, list), noun
            told = [alone.json] + ([] if noun in ALONE else [person.types(noun, "list", "--json").json])
            assert all(one == told[0] for one in told), noun
            assert all(isinstance(row, dict) for row in told[0]), noun
            assert len({frozenset(row) for row in told[0]}) <= 1, f"{noun}: the fields differ from row to row"
            readable(told[0])
            assert told[0] if noun in ALWAYS else place == "filled" or not told[0], noun
            assert person.types(noun).out.strip(), f"{noun} says nothing to a person"
        assert person.types("job", "--json", "list").json == person.types("job", "--json").json


def readable(value: Any, name: str = "") -> None:
    """Times are in UTC, money is a number."""
    if isinstance(value, dict):
        for key, one in value.items():
            readable(one, key)
    elif isinstance(value, list):
        for one in value:
            readable(one, name)
    elif value is not None and name.endswith("_at"):
        assert datetime.fromisoformat(value).utcoffset() == timedelta(0), name
    elif value is not None and re.search(r"(^|_)usd(_micros)?$", name):
        assert isinstance(value, int | float), name


def test_the_status_says_whether_a_server_runs() -> None:
    with a_person(up=False) as person:
        before = person.types("status", "--json", MIDWATCH_HOME=str(person.folder / "never"))
        assert not (person.folder / "never").exists()
        person.ups()
        running = person.types("status", "--json").json
        person.types("down")
        away = person.types("status", "--json").json
    assert [one["server_running"] for one in (before.json, running, away)] == [False, True, False]
    assert before.json.keys() == running.keys() == away.keys()


@pytest.mark.parametrize(
    ("words", "code", "said", "hint"),
    [
        (("job", "show", "7"), 2, "There is no job '7'.", None),
        (("job", "show"), 2, '"job show" needs a job.', "midwatch job show 1"),
        (("nonsense",), 2, "No such command 'nonsense'.", "midwatch --help"),
        (("stack",), 2, "There is no stack yet", None),
        (("level", "wild"), 5, "Midwatch is not running.", "midwatch up --detach"),
    ],
)
def test_an_error_is_json_where_json_was_asked_for(
    homes: dict[str, Path], words: tuple[str, ...], code: int, said: str, hint: str | None
) -> None:
    with at(homes["empty"]) as person:
        result = person.types(*words, "--json", expect=code)
        plain = person.types(*words, expect=code)
    assert result.out == plain.out == ""
    error = json.loads(result.err)["error"]
    assert error.keys() == {"code", "exit_code", "message", "hint", "because"}, "as the API answers"
    assert error["exit_code"] == code
    assert said in error["message"]
    assert hint is None or hint in error["hint"]
    assert plain.err.startswith(f"midwatch: {error['message']}")


WANTING = {
    ("say",): ('"say" needs a text.', 'midwatch say "leave the parser alone"'),
    ("token", "new"): ('"token new" needs a name and --person.', "midwatch token new dashboard --person ann"),
    ("token", "new", "x"): ('"token new" needs --person.', "midwatch token new dashboard --person ann"),
    ("person", "role", "ann"): ('"person role" needs a role.', "midwatch person role ann operator"),
    ("why",): ('"why" needs an entry or a recommendation.', "midwatch why 42"),
    ("rehearse",): ('"rehearse" needs --level.', "midwatch rehearse --level full"),
}


def test_what_is_missing_is_said_in_one_sentence_with_an_example() -> None:
    wanting = {path: () for path, command in commands() if any(param.required for param in command.params)}
    assert len(wanting) > 30
    with a_person(up=False) as person:
        for words in {**wanting, **WANTING}:
            said = person.types(*words, expect=2)
            first, example, *rest = said.err.splitlines()
            assert said.out == "", words
            assert not rest, words
            sentence, shown = WANTING.get(words, (f'"{" ".join(words)}" needs ', f"For example: midwatch {words[0]} "))
            assert first.startswith(f"midwatch: {sentence}"), words
            assert shown in example, words
        assert person.types("job", "merge", "--nope", expect=2).err.splitlines() == [
            "midwatch: No such option: --nope.",
            "  See: midwatch job merge --help",
        ]
        assert not any(person.folder.glob("h/*.db")), "nothing was made"
