"""The demo is a night of its own, twice in the same place; and the unit file that starts the server at login."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.surfaces.person import Person, a_person, command

KEYS = {
    "session", "jobs", "pull_requests", "brief_words", "recommendations", "decisions", "evidence", "score_pre",
    "score_post", "authority", "journal_entries", "seconds",
}  # fmt: skip


def played(person: Person, *words: str) -> tuple[list[str], list[str]]:
    """What the demo printed, and what it told while it ran."""
    said = person.types("demo", *words)
    return said.out.splitlines(), said.err.splitlines()


def test_the_demo_ends_with_one_json_line_and_can_be_played_again() -> None:
    with a_person(up=False) as person:
        (line,), progress = played(person, "--json")
        told = json.loads(line)
        assert set(told) == KEYS
        assert (told["jobs"], told["pull_requests"], told["authority"]) == (1, 1, "suggest")
        assert told["score_pre"] is not None
        assert told["score_post"] is not None
        assert any("silence approves" in text for text in progress)
        shown, _ = played(person)
        assert "Morning: the brief" in shown
        diff = next(text.split("  ")[-1].strip() for text in shown if text.strip().startswith("the diff"))
        look = subprocess.run(["/bin/sh", "-c", diff], env=shell(person), capture_output=True, text=True, check=True)
        assert "-import os\n" in look.stdout
        again = person.types("doctor", "--verify", "--invariants", "--json", MIDWATCH_HOME=str(person.home / "demo"))
        assert again.json["ok"]


def shell(person: Person) -> dict[str, str]:
    return person.environment | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def test_the_demo_shows_the_night_while_it_happens() -> None:
    with (
        a_person(up=False) as person,
        subprocess.Popen(
            command(("demo",)), env=person.environment | {"PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            if "signed the orders" in line:
                break
        assert process.poll() is None  # the first lines are on the screen, the night is not over
        process.kill()


def test_the_demo_never_empties_a_folder_that_is_not_its_own() -> None:
    with a_person(up=False) as person:
        mine = person.folder / "mine"
        mine.mkdir()
        (mine / "thesis.txt").write_text("years of work")
        said = person.types("demo", "--home", str(mine), expect=3)
        assert "is not a demo's folder" in said.err
        assert (mine / "thesis.txt").read_text() == "years of work"


def test_install_writes_a_unit_that_starts_this_midwatch() -> None:
    with a_person(up=False) as person:
        said = person.types("up", "--install")
        unit = person.folder / ".config/systemd/user/midwatch.service"
        assert str(unit) in said.out
        text = unit.read_text()
        assert f"ExecStart={sys.executable} -P -m midwatch up" in text
        assert f"Environment=MIDWATCH_HOME={person.home}" in text
        person.types("up", "--install", "--port", "9191", "--host", "127.0.0.2")
        assert f"ExecStart={sys.executable} -P -m midwatch up --port 9191 --host 127.0.0.2\n" in unit.read_text()
        person.types("up", "--install", "--host", "a\nExecStartPost=/bin/evil", expect=2)
        assert "evil" not in unit.read_text()
