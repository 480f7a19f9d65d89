"""A plain command as an agent: the documented example works when pasted, and a missing plan is named (A1, B8)."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.isolation import found
from tests.conftest import missing
from tests.surfaces import person as at_home
from tests.surfaces.person import Person, Said, a_person

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
SETTINGS = at_home.SETTINGS.replace("[server]", "[server]\nport = 0")


def pasted(language: str) -> str:
    """The example of the section, as a reader copies it."""
    section = PAGE.read_text().partition("## Your own command\n")[2].partition("\n## ")[0]
    found_here = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert found_here is not None, f"no {language} example"
    return found_here.group(1)


@pytest.fixture
def person() -> Iterator[Person]:
    if found().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", found().why)
    with a_person(up=False) as one:
        yield one


def works(person: Person, script: str) -> Said:
    """Paste script and settings, and give it work."""
    path = person.folder / "agents" / "mine.sh"
    path.parent.mkdir()
    path.write_text(script)
    path.chmod(0o755)
    person.settles(SETTINGS + pasted("toml").replace("/home/you/agents/mine.sh", str(path)))
    person.ups()
    person.adds_repo()
    words = ("Add a contributor", "--project", "repo", "--agent", "mine", "--yes", "--follow")
    return person.types("code", *words, expect=None)


def test_the_example_of_ten_lines_delivers_a_pull_request_when_pasted(person: Person) -> None:
    script = pasted("sh")
    assert len(script.splitlines()) <= 10
    said = works(person, script)
    assert said.code == 0, said.out + said.err
    tried = person.types("agent", "test", "mine").out
    assert (tried.count("In its sandbox the program starts."), tried.count("uses no model")) == (1, 1)
    (person.folder / "agents" / "mine.sh").unlink()
    tried = person.types("agent", "test", "mine", expect=None).out
    assert tried.count("mine.sh") == 1, tried
    shown = person.types("job", "show", "1").out
    assert "CONTRIBUTORS" in shown
    assert "pull request" in shown.lower()


@pytest.mark.parametrize(("code", "cause"), [(139, "logic"), (127, "dependency")])
def test_a_program_that_says_nothing_is_understood_by_its_exit_code(person: Person, code: int, cause: str) -> None:
    assert works(person, f"#!/bin/sh\nexit {code}\n").code != 0
    assert person.types("job", "show", "1", "--json").json["cause"] == cause


@pytest.mark.parametrize(
    ("prints", "quoted"),
    [("echo 'I will have a look.'", "I will have a look."), ("true", "It printed nothing.")],
)
def test_a_command_that_prints_no_plan_is_told_what_a_plan_is(person: Person, prints: str, quoted: str) -> None:
    said = works(person, f"#!/bin/sh\n{prints}\n")
    assert said.code != 0
    why = " ".join(person.types("job", "show", "1").out.split())
    assert "The command printed no plan." in why
    assert '{"summary": "...", "files": ["..."]}' in why
    assert quoted in why
