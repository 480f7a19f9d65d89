"""Wrong words by day and by night: one clear sentence, what to do, the right exit code, and nothing written."""

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.nights.house import git
from tests.patience import PATIENCE
from tests.surfaces.person import ORDERS, Person, a_person, command

GOOD = ORDERS.format(level="cautious", title="Tidy up")
BAD_ORDERS = {
    "a string that does not end": ('goals = ["a\n', 2, "line 1"),
    "an unknown key": ('level = "observe"\ncolour = 3\n', 2, "line 2: there is no such key 'colour'"),
    "an unknown key in the second work": (
        GOOD + '[[work]]\nproject = "repo"\ntitle = "x"\nagents = "y"\n',
        2,
        "line 11: there is no such key 'work.1.agents'",
    ),
    "a wrong type": ('goals = "tidy"\n', 2, "line 1: goals must be a list"),
    "a wrong number": ('[limits]\nminutes = "ten"\n', 2, "line 2: limits.minutes: "),
    "a negative budget": ("[limits]\nusd = -1\n", 2, "line 2: limits.usd: "),
    "a wrong level": (
        'level = "wild"\n',
        2,
        "line 1: level: Input should be 'observe', 'cautious', 'moderate' or 'full'",
    ),
    "work without a title": ('[[work]]\nproject = "repo"\n', 2, "line 1: 'work.0.title' is missing"),
    "until without a zone": ("until = 2030-01-01T07:00:00\n", 2, "line 1: until has no time zone"),
    "an hour without a share": ('[limits]\nleave_at = "08:00"\n', 2, "line 2: leave_at is set without leave_percent"),
    "a share of too much": ("[limits]\nleave_percent = 140\n", 2, "line 2: limits.leave_percent: "),
    "an hour in another zone": (
        '[limits]\nleave_percent = 40\nleave_at = "08:00+02:00"\n',
        2,
        "line 3: leave_at is on your own clock",
    ),
    "until in the past": ("until = 2020-01-01T07:00:00Z\n", 2, "The orders end in the past."),
    "a tool that is none": (
        '[[work]]\nproject = "repo"\ntitle = "x"\ntools = ["Read", "npm run build"]\n',
        2,
        "line 4: tools: 'npm run build' is not a tool.",
    ),
    "an unknown project": ('[[work]]\nproject = "nope"\ntitle = "x"\n', 2, "unknown project 'nope'"),
    "an unknown agent": ('[[work]]\nproject = "repo"\ntitle = "x"\nagent = "gpt"\n', 2, "unknown agent 'gpt'"),
}
BAD_WORDS = {
    ("project", "show", "nope"): (2, "There is no project 'nope'."),
    ("project", "change", "repo", "--tool", "npm run"): (2, "'npm run' is not a tool."),
    ("project", "take-back", "repo", "Bash(npm *)"): (2, "'Bash(npm *)' is not always allowed in repo."),
    ("code", "x", "--project", "repo", "--tool", "a b"): (2, "'a b' is not a tool."),
    ("project", "add", "missing"): (2, "/missing is not a folder."),
    ("project", "add", "plain"): (2, "/plain is not a git repository."),
    ("project", "add", "empty"): (2, "no commits"),
    ("project", "add", "detached"): (2, "detached"),
    ("project", "add", "repo", "--name", "42"): (2, "'42' cannot be a project's name."),
    ("project", "add", "repo", "--name", "a b"): (2, "'a b' cannot be a project's name."),
    ("project", "add", "repo"): (3, "There is a project repo already."),
    ("project", "change", "repo"): (2, "Nothing to change was given."),
    ("project", "flag", "repo", "lucky"): (2, "flag cannot be 'lucky'."),
    ("goal", "set", "repo", " "): (2, "A goal needs a statement."),
    ("goal", "set", "repo", "More", "--goal", "goal_x"): (2, "There is no goal 'goal_x'."),
    ("goal", "close", "goal_x"): (2, "There is no goal 'goal_x'."),
    ("work", "add", "nope", "x"): (2, "There is no project 'nope'."),
    ("work", "move", "99", "done"): (2, "There is no work item '99'."),
    ("work", "move", "99", "lost"): (2, "status cannot be 'lost'."),
    ("asks", "7", "approve"): (2, "There is no ask '7'."),
    ("job", "diff", "7"): (2, "There is no job '7'."),
    ("morning",): (2, "There is no brief yet"),
    ("why", "rec_none"): (2, "No brief has the recommendation 'rec_none'."),
    ("level", "wild"): (2, "level cannot be 'wild'."),
    ("rehearse", "--level", "wild"): (2, "level cannot be 'wild'."),
    ("settings", "propose", "no.such=1"): (2, "There is no setting 'no.such'."),
    ("settings", "propose", "rounds.interval_seconds=soon"): (2, "rounds.interval_seconds cannot be 'soon'"),
    ("settings", "propose", "nonsense"): (2, "'nonsense' is not key=value."),
    ("settings", "apply", "9"): (2, "There is no settings version '9'."),
    ("brief", "--file", "nowhere.toml"): (2, "nowhere.toml cannot be read: No such file or directory."),
    ("brief", "--file", "bytes.toml"): (2, "bytes.toml cannot be read: it is not UTF-8 text."),
    ("pause",): (3, "No night is under way."),
    ("say", "hello"): (3, "No night is under way."),
    ("up", "--detach"): (3, "Midwatch is already running"),
    ("up",): (3, "Midwatch is already running"),
    ("nonsense",): (2, "No such command 'nonsense'."),
}


@pytest.fixture(scope="module")
def person() -> Iterator[Person]:
    with a_person() as someone:
        someone.adds_repo()
        (someone.folder / "plain").mkdir()
        (someone.folder / "empty").mkdir()
        git(someone.folder / "empty", "init", "-q", "-b", "main")
        git(someone.folder, "clone", "-q", "repo", "detached")
        git(someone.folder / "detached", "checkout", "-q", "--detach")
        (someone.folder / "bytes.toml").write_bytes(b"\xff\xfe\x00")
        yield someone


def test_every_mistake_is_one_sentence_and_nothing_is_written(person: Person) -> None:
    before = person.head()
    files = {}
    for number, (name, (text, _, _)) in enumerate(BAD_ORDERS.items()):
        files[name] = f"bad{number}.toml"
        (person.folder / files[name]).write_text(text)
    asked = {
        ("brief", "--file", files[name]): (code, words) for name, (_, code, words) in BAD_ORDERS.items()
    } | BAD_WORDS
    with ThreadPoolExecutor(4) as pool:
        said = dict(zip(asked, pool.map(lambda words: person.types(*words, expect=None), asked), strict=True))
    wrong = [
        (words, said[words].code, said[words].err)
        for words, (code, sentence) in asked.items()
        if said[words].code != code or sentence not in said[words].err or said[words].out
    ]
    assert wrong == []
    long_winded = [words for words in asked if words != ("nonsense",) and len(said[words].err.splitlines()) > 2]
    assert long_winded == []
    without_advice = [words for words in asked if words != ("nonsense",) and len(said[words].err.splitlines()) < 2]
    assert without_advice == []
    assert person.head() == before


def test_a_project_that_lost_its_folder_stops_the_start_and_not_the_house(person: Person) -> None:
    away = person.folder / "away"
    git(person.folder, "clone", "-q", "repo", "away")
    person.types("project", "add", "away")
    (person.folder / "away.toml").write_text(GOOD.replace('"repo"', '"away"'))
    person.types("brief", "--file", "away.toml")
    before = person.head()
    away.rename(person.folder / "gone")
    said = person.types("start", expect=2)
    assert f"{away} is not a folder." in said.err
    assert person.head() == before
    (person.folder / "none.toml").write_text("")
    person.types("brief", "--file", "none.toml")
    person.types("project", "remove", "away")


def test_orders_without_goals_or_work_are_drafted_but_not_signed(person: Person) -> None:
    (person.folder / "hollow.toml").write_text("")
    drafted = person.types("brief", "--file", "hollow.toml")
    assert "Not complete: no goals and no work yet." in drafted.out
    assert "midwatch start" not in drafted.out
    assert "no goals, so the night cannot start" in person.types("start", expect=3).err
    person.types("brief", "--file", "-", text='goals = ["x"]\n')
    assert "no work, so the night cannot start" in person.types("start", expect=3).err


def test_a_closed_standard_input_is_named(person: Person) -> None:
    shell = " ".join(command(("brief", "--file", "-", "<&-")))
    done = subprocess.run(
        ["/bin/sh", "-c", shell], env=person.environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard input is closed" in done.stderr


def test_a_screen_that_is_full_is_named(person: Person) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command(("project", "--json")),
            env=person.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 4
    assert "The disk is full" in done.stderr
    assert "Traceback" not in done.stderr
