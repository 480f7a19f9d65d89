"""Nights that go another way: one at observe, which only speaks, and one that is stopped and reviewed by keys."""

import os
import pty
import select
import subprocess
from collections.abc import Iterator

import pytest

from tests.nights.house import git
from tests.surfaces.person import Person, a_person, command

KEYS = {"[j] skip": "r", "why:": "\n", "usefulness [1-5]": "4", "trust [1-5]": "5", "brevity [1-5]": "4"}


@pytest.fixture
def person() -> Iterator[Person]:
    with a_person() as someone:
        someone.adds_repo()
        yield someone


def test_a_night_at_observe_is_nothing_but_words(person: Person) -> None:
    branches = git(person.repo, "for-each-ref")
    assert "There are no orders to sign." in person.types("start", expect=2).err
    person.orders(level="observe")
    person.types("start")
    with person.watching() as watch:
        watch.until("Round 1 is over")
        person.types("stop", expect=None)  # it may have seen by itself that there is nothing it may do
        watch.until("The brief is ready")
    assert person.types("job").out == "No jobs yet.\n"
    assert person.types("run").out == "No runs yet.\n"
    assert git(person.repo, "for-each-ref") == branches
    assert person.types("status", "--json").json["pull_requests"] == []
    told = [line for line in watch.lines if "Would start in repo: Tidy up" in line]
    assert told, "\n".join(watch.lines)
    assert "nothing was changed" in person.types("morning").out
    would = person.types("rehearse", "--level", "full", "--json").json
    assert would["more"] >= 1
    started = [row for row in would["rows"] if row["kind"] == "start"]
    assert {row["then"]["outcome"] for row in started} == {"say_only"}
    assert {row["would"]["outcome"] for row in started} == {"execute"}
    assert person.types("doctor", "--verify", "--invariants", "--json").json["ok"]


def test_a_job_is_stopped_the_night_ends_and_the_review_is_given_by_keys(person: Person) -> None:
    person.orders()
    person.types("start")
    with person.watching() as watch:
        watch.until("Ask 1 for you")
        assert person.types("job", "stop", "1", "--why", "not tonight").out == "Job 1 is stopped.\n"
        person.types("stop", expect=None)  # it may have seen by itself that nothing is left to do
        watch.until("The brief is ready")
    assert "Job 1 is already over: stopped" in person.types("job", "stop", "1", expect=3).err
    assert "Ask 1 is settled already" in person.types("asks", "1", "approve", expect=3).err
    assert "Night 1 is ended. Thank you." in review_by_keys(person)
    known = person.types("morning", "--json").json
    assert known["state"] == "ended"
    assert {one["outcome"] for one in known["recommendations"]} == {"rejected"}


def review_by_keys(person: Person) -> str:
    """Answer each question with a key as it appears."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command(("review",)), stdin=theirs, stdout=theirs, stderr=theirs, env=person.environment, start_new_session=True
    ) as process:
        os.close(theirs)
        try:
            screen = _answer(ours)
        finally:
            if process.poll() is None and select.select([ours], [], [], 1)[0] == []:
                process.kill()
    os.close(ours)
    assert process.returncode == 0, screen
    return screen


def _answer(ours: int) -> str:
    screen, answered, tries, key = "", 0, 0, ""
    while tries < 60:
        if not select.select([ours], [], [], 0.5)[0]:
            tries += 1
            os.write(
                ours, key.encode()
            )  # typed before the terminal listened to single keys, a key is lost: type it again
            continue
        try:
            screen += os.read(ours, 4096).decode(errors="replace")
        except OSError:  # the other side hung up
            break
        rest = screen[answered:]
        found = [(rest.rindex(one), one) for one in KEYS if one in rest]
        if found:
            key = KEYS[max(found)[1]]
            os.write(ours, key.encode())
            answered = len(screen)
    return screen
