"""The command line stays short: what it loads, what it completes, what its help shows."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from midwatch.surfaces.cli import main as cli
from tests.surfaces.person import Person, a_person, command

HEAVY = {"pydantic", "sqlalchemy", "fastapi", "rich", "httpx", "starlette", "uvicorn", "alembic", "psutil"}
LOADED = """
import json, sys
sys.argv = ["midwatch", {words}]
from midwatch.surfaces.cli.main import main
try:
    main()
except SystemExit:
    pass
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}} - set(sys.stdlib_module_names))))
"""


@pytest.fixture(scope="module")
def person() -> Iterator[Person]:
    with a_person() as someone:
        yield someone


def loaded_by(person: Person, words: str) -> set[str]:
    """The packages that a command loads."""
    asked = [sys.executable, "-c", LOADED.format(words=words)]
    done = subprocess.run(asked, env=person.environment, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "words",
    ['"status"', '"asks"', '"project"', '"job", "show", "1"', '"pause"', '"say", "x"', '"code", "x", "-p", "none"'],
)
def test_a_short_command_loads_only_typer_and_the_standard_library(person: Person, words: str) -> None:
    loaded = loaded_by(person, words)
    assert loaded & HEAVY == set()
    assert loaded <= {
        "midwatch",
        "typer",
        "shellingham",
        "annotated_doc",
        "typing_extensions",
        "__main__",
        "_distutils_hack",
    } | {name for name in loaded if name.startswith(("_", "sitecustomize"))}


@pytest.mark.parametrize("read", ["glance('/projects')", "names_in_settings('agents')"])
def test_completing_a_name_where_nothing_is_stored_loads_nothing_heavy(person: Person, read: str) -> None:
    asked = f"import json, sys; from midwatch.surfaces.cli.shell import client; assert client.{read} == []; "
    said = subprocess.run(
        [sys.executable, "-c", asked + "print(json.dumps(sorted(sys.modules)))"],
        env=person.environment | {"MIDWATCH_HOME": str(person.folder / "nowhere")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert {name.partition(".")[0] for name in json.loads(said.stdout)} & HEAVY == set()


def test_stopping_the_server_loads_nothing_of_it() -> None:
    with a_person() as person:
        assert loaded_by(person, '"down"') & HEAVY - {"psutil"} == set()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("midwatch jo", {"job"}),
        ("midwatch re", {"resume", "review", "replay", "rehearse"}),
        (
            "midwatch job ",
            {
                *("list", "show", "plan", "steps", "log", "line", "attach"),
                *("open", "resume", "discard", "diff", "stop", "close", "merge", "unmerge"),
            },
        ),
        ("midwatch settings p", {"propose", "proposals"}),
        ("midwatch project add --pu", {"--purpose"}),
    ],
)
def test_the_shell_completes_verbs_and_what_follows_them(typed: str, offered: set[str]) -> None:
    words = typed.split(" ")
    done = subprocess.run(
        command(()),
        env={
            "_MIDWATCH_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(words) - 1),
            "HOME": "/",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert set(done.stdout.split()) == offered


def every_command(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every verb with its help, and every word after a verb."""
    names = cli.VERBS if not path else getattr(group, "commands", {})
    for name in names:
        child = load(name) if not path else group.commands[name]
        yield (*path, name), child.help or ""
        if hasattr(child, "commands"):
            yield from every_command(child, (*path, name))


def load(name: str) -> Any:
    module, _ = cli.VERBS[name]
    return typer.main.get_command(__import__(f"midwatch.surfaces.cli.{module}", fromlist=["VERBS"]).VERBS[name])


def test_every_help_shows_an_example_of_itself() -> None:
    known = dict(every_command(None))
    assert len(known) > 40
    silent = [path for path, text in known.items() if f"Example: midwatch {path[0]}" not in text.replace("\b", "")]
    assert silent == []


def test_the_overview_names_every_verb_and_help_is_shown_for_words_after_verbs() -> None:
    overview = subprocess.run(command(("--help",)), capture_output=True, text=True, check=True).stdout
    assert [line.split()[0] for line in overview.partition("Commands:")[2].splitlines() if line.strip()] == list(
        cli.VERBS
    )
    help_text = subprocess.run(command(("job", "merge", "--help")), capture_output=True, text=True, check=True).stdout
    assert "Example: midwatch job merge 1" in help_text
