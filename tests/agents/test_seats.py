"""Real programs with a screen, begun for a person who types into them behind the job's walls (A14)."""

from collections.abc import Iterator

import pytest

from tests.agents.conftest import need
from tests.agents.model import Model, Say, Write, model_in_a_thread
from tests.agents.nights import MODELS
from tests.nights.house import git
from tests.surfaces import person as at_home
from tests.surfaces.person import Person, a_person
from tests.surfaces.test_by_hand import Terminal
from tools.agents import program

pytestmark = pytest.mark.slow
SCREENS = {
    # What it shows, and what a person types then. Words are looked for singly: screens draw spaces by moving.
    "claude": (("nual", "write hello"), ("hello", "\r"), ("create", "\r"), ("Done", "/exit"), ("CLI", "\r")),
    "codex": (("Trust", "\r"), ("default", "write hello"), ("hello", "\r"), ("Done", "/quit"), ("exit", "\r")),
}
DELIVER = "Deliver? [y/N] "
GAVE_UP = "timed out discarding buffered terminal input"
"""Codex ends with this where its machine is too busy for its own clock; a person begins again."""
TABLE = """\
[agents.{agent}]
program = "{program}"
secret = "{agent}"
model = "{model}"
base_url = "{url}"
"""


@pytest.fixture
def model() -> Iterator[Model]:
    with model_in_a_thread() as serving:
        yield serving


def settled(person: Person, model: Model, *agents: str, more: str = "") -> None:
    """Write settings with these agents; each has a script of its name, and a key of its own."""
    secrets, tables = "[secrets]\n", ""
    for agent in agents:
        write = Say("I write it.", (Write("hello.txt", "hello\n"),))
        key = person.folder / f"{agent}.key"
        key.write_text(model.play(agent, write, Say("Done."), final=Say("Nothing more.")))
        key.chmod(0o600)
        secrets += f'{agent} = "file:{key}"\n'
        tables += TABLE.format(agent=agent, program=program(agent), model=MODELS[agent], url=model.url)
    person.settles(at_home.SETTINGS + secrets + tables + more)


def presses(terminal: Terminal, keys: str, following: str) -> None:
    """Press keys until something comes of them: a screen may be drawn before it listens."""
    for _ in range(20):
        terminal.types(keys)
        if terminal.sees(following, seconds=3):
            return


def sits(person: Person, agent: str) -> None:
    """Type into the agent's screen until its work is delivered."""
    terminal = Terminal(person, "code", "Say hello", "-p", "repo", "--interactive", "--agent", agent)
    try:
        _talks(terminal, SCREENS[agent])
    except AssertionError as over:
        if GAVE_UP not in str(over):
            raise
        terminal.ends()
        sits(person, agent)
    else:
        assert terminal.ends() == 0


def _talks(terminal: Terminal, talk: tuple[tuple[str, str], ...]) -> None:
    terminal.until("leave it running with Ctrl-].")
    for (shown, typed), (following, _) in zip(talk, (*talk[1:], (DELIVER, "")), strict=True):
        terminal.until(shown)
        presses(terminal, typed, following)
    terminal.until(DELIVER)
    terminal.types("y\n")
    terminal.until("midwatch job merge ")


def test_a_person_types_into_the_real_programs_and_delivers(model: Model) -> None:
    for agent in SCREENS:
        need(agent)
    with a_person(up=False) as person:
        settled(person, model, *SCREENS)
        person.ups()
        person.adds_repo()
        for number, agent in enumerate(SCREENS, start=1):
            sits(person, agent)
            branches = git(person.repo, "for-each-ref", "--format=%(refname:short)", "refs/heads/agent").split()
            assert len(branches) == number
            assert {git(person.repo, "show", f"{branch}:hello.txt") for branch in branches} == {"hello"}
            assert model.requests(agent)
        person.types("down")
        assert person.types("doctor", "--verify", "--invariants", "--json").json["ok"]


def test_behind_weaker_walls_it_says_that_it_has_no_way_to_its_model(model: Model) -> None:
    """Nobody waits while a program tries again and again what cannot be reached."""
    need("codex")
    with a_person(up=False) as person:
        settled(person, model, "codex", more='[sandbox]\nisolation = "landlock"\n')
        person.ups()
        person.adds_repo()
        said = person.types("code", "Say hello", "-p", "repo", "--agent", "codex", "--follow", expect=None)
        why = "codex cannot reach its model: only bubblewrap gives a room a network; this machine has landlock."
        assert said.code != 0
        assert "1 is failed (auth)" in said.out + said.err, "asked at once, not tried three times"
        assert why in said.out + said.err
        assert why in person.types("doctor", "--project", "repo", expect=None).out
