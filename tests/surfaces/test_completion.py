"""A shell completes every name there is, from a server or without one, and completing changes nothing."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from midwatch.crew.roster import KNOWN
from midwatch.surfaces.cli.shell import completion
from midwatch.terms.people import Role, Scope
from midwatch.terms.projects import Flag, Horizon, WorkStatus
from midwatch.terms.report import FlagKind
from midwatch.terms.trust import Level
from midwatch.views.entries.tags import Tag
from tests.nights.house import a_house, orders, sample_repository
from tests.surfaces.person import Person, a_person
from tests.surfaces.test_lists import commands

FREE = {
    *("check", "command", "days", "from_", "limit", "minutes", "model", "next_step", "note", "path", "priority"),
    *("protect_path", "purpose", "reason", "sentence", "setup", "statement", "text", "tiers", "title", "url", "usd"),
    *("after", "done_when", "host", "port", "why", "file", "keep", "changes", "tool"),
    *("usefulness", "trust", "brevity"),  # one to five
    *("accept", "modify", "reject", "defer", "right", "wrong", "keep_open"),  # places in the brief: 1, 2, 3
}
"""What a person writes freely; everything else takes a name or one of a few words."""
FREE_HERE = {("project add", "name"), ("token new", "name"), ("why", "name")}
TOML = """\
[channels.phone]
url = "env:PHONE_URL"
[agents.mine]
speaks = "command"
[forges.github]
secret = "token"
"""
NAMES = {
    "midwatch project show ": {"sample"},
    "midwatch project take-back sa": {"sample"},
    "midwatch job merge ": {"1"},
    "midwatch job diff 2": set[str](),
    "midwatch code x --project ": {"sample"},
    "midwatch code x -p s": {"sample"},
    "midwatch stack --project ": {"sample"},
    "midwatch goal set sa": {"sample"},
    "midwatch work move ": {"1"},
    "midwatch work move 1 ": {"backlog", "in_progress", "blocked", "done"},
    "midwatch morning --night ": {"1"},
    "midwatch replay --night ": {"1"},
    "midwatch agent login ": {"housekeeper", "claude", "codex", "opencode", "mine"},
    "midwatch code x --agent m": {"mine"},
    "midwatch channel test ": {"phone"},
    "midwatch project add . --forge ": {"local", "github"},
    "midwatch settings show rounds.in": {"rounds.interval_seconds"},
    "midwatch level ": {"observe", "cautious", "moderate", "full"},
    "midwatch asks ": set[str](),
    "midwatch person remove ": set[str](),
    "midwatch token revoke ": set[str](),
    "midwatch token new ": set[str](),
}


def completed(person: Person, typed: str, home: Path) -> set[str]:
    """What a shell offers at the end of a line; nothing else may be printed."""
    words = typed.split(" ")
    asked = {"_MIDWATCH_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    said = person.types(expect=0, **asked, MIDWATCH_HOME=str(home))
    assert said.err == "", said.err[-500:]
    return set(said.out.split("\n")) - {""}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A house after one night, with a channel, an agent and a forge of its own; no server runs in it."""
    folder = tmp_path_factory.mktemp("completion")

    async def made() -> None:
        async with a_house(folder / "home") as opened:
            await opened.project(sample_repository(folder / "sample"))
            await opened.begin(orders("Tidy up"))
            await opened.to_the_brief()
            await opened.settle()

    asyncio.run(made())
    (folder / "home" / "midwatch.toml").write_text(TOML)
    return folder / "home"


@pytest.fixture(scope="module")
def person() -> Iterator[Person]:
    with a_person(up=False) as someone:
        yield someone


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file below a folder with its size and the time it was changed."""
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(folder.rglob("*"))}


def test_every_argument_that_takes_a_name_completes() -> None:
    for path, one in commands():
        for param in one.params:
            if getattr(param, "is_flag", False):
                continue
            known = completion.completion_of(" ".join(path), param.name) is not None
            free = param.name in FREE or (" ".join(path), param.name) in FREE_HERE
            assert known or free, f"midwatch {' '.join(path)}: {param.name} completes nothing"


def test_the_words_offered_are_those_that_are_taken() -> None:
    chosen = completion.CHOICES
    assert set(chosen["level:wanted"]) == set(chosen["rehearse:level"]) == {one.value for one in Level}
    assert set(chosen[":role"]) == {one.value for one in Role}
    assert set(chosen["token:scope"]) == {one.value for one in Scope}
    assert set(chosen["replay:tag"]) == set(get_args(Tag))
    assert set(chosen["goal:horizon"]) == {one.value for one in Horizon}
    assert set(chosen["work:status"]) == {one.value for one in WorkStatus}
    assert set(chosen["project:flag"]) == {one.value for one in Flag}
    assert set(chosen["review:flag"]) == {one.value for one in FlagKind}
    assert {*KNOWN, "housekeeper"} == set(completion.KNOWN_AGENTS)


def test_names_complete_without_a_server_and_nothing_is_written(person: Person, home: Path) -> None:
    before = state(home)
    for typed, offered in NAMES.items():
        assert completed(person, typed, home) == offered, typed
    assert state(home) == before
    assert not (home / "server.log").exists()


def test_names_complete_from_a_server() -> None:
    with a_person() as person:
        person.adds_repo()
        person.types("goal", "set", "repo", "Fewer warnings")
        for typed, offered in {
            "midwatch project show ": {"repo"},
            "midwatch goal close ": {"Fewer warnings"},
        }.items():
            assert completed(person, typed, person.home) == offered, typed


@pytest.mark.parametrize("typed", NAMES)
def test_completing_is_silent_and_makes_nothing_where_there_is_no_house(person: Person, typed: str) -> None:
    nowhere = person.folder / "nowhere"
    offered = completed(person, typed, nowhere)
    assert offered <= {*completion.KNOWN_AGENTS, *sum(completion.CHOICES.values(), ())}
    assert not nowhere.exists()


async def test_an_ask_completes_with_the_answers_it_takes(person: Person, tmp_path: Path) -> None:
    async with a_house(tmp_path / "home") as opened:
        await opened.project(sample_repository(tmp_path / "sample"))
        await opened.begin(orders("Tidy up", permissions={"silence_approves": False}))
        await opened.pass_time(minutes=59)
    assert completed(person, "midwatch asks ", tmp_path / "home") == {"1"}
    assert completed(person, "midwatch asks 1 ", tmp_path / "home") == {"approve", "reject"}
    assert completed(person, "midwatch asks 2 ", tmp_path / "home") == set()


def test_completion_is_installed_by_one_flag(person: Person) -> None:
    """It writes into the shell files of the person's own home, and of nobody else's."""
    said = person.types("--install-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "bash completion installed" in said.out
    (script,) = (person.folder / ".bash_completions").iterdir()
    assert "_MIDWATCH_COMPLETE=complete_bash" in script.read_text()


OVERVIEW = """
import sys
sys.argv = {argv}
from typer.testing import CliRunner
from midwatch.surfaces.cli.main import app
said = CliRunner().invoke(app, ["--help"])
print(said.exit_code, said.output.count("\\n"))
print(sorted(name for name in sys.modules if name.startswith("midwatch.surfaces.cli.") and name.count(".") > 4))
"""


@pytest.mark.parametrize("argv", [["midwatch", "--help"], ["-c"], ["pytest", "tests", "-n", "2"], []])
def test_the_overview_is_the_same_however_the_program_was_started_and_loads_no_verb(argv: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OVERVIEW.format(argv=argv)],
        env={"HOME": "/", "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    code, lines = done.stdout.splitlines()[0].split()
    assert (code, int(lines) > 40) == ("0", True)
    assert done.stdout.splitlines()[1] == "[]"
