"""`midwatch code` in real processes: with a server, without one, left in the middle, and by hand (A1, A9, A14)."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.databases import place_for_home
from tests.nights.house import CHECK, git, sample_repository
from tests.patience import PATIENCE
from tests.surfaces.person import Person, a_person, command
from tests.surfaces.test_by_hand import Terminal

pytestmark = pytest.mark.slow


def knows_a_repo(person: Person) -> None:
    """Put a repository on the books and let nobody run."""
    place_for_home(person.home)
    person.ups()
    person.adds_repo()
    person.types("down")


def adds_up(person: Person) -> None:
    found = person.types("doctor", "--verify", "--invariants", "--json").json
    assert found["ok"], found


@contextmanager
def coding_until_it_asks(person: Person, *more: str) -> Iterator["subprocess.Popen[str]"]:
    """Give one sentence to `midwatch code` and read what it prints until its plan waits."""
    with subprocess.Popen(
        command(("code", "Tidy up", "--project", "repo", *more)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        cwd=person.folder,
        env=person.environment | {"PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "Ask 1 waits" in line:
                break
        yield process


def test_without_a_server_one_sentence_becomes_a_pull_request_and_the_server_is_gone_again() -> None:
    with a_person(up=False) as person:
        knows_a_repo(person)
        tidy = "test -z \"$(grep -rl 'import os' --include=*.py .)\""
        said = person.types("code", "Tidy up", "--project", "repo", "--yes", "--json", "--done-when", tidy)
        (job,) = said.json["jobs"]
        assert (job["state"], job["pull_request"], job["verdict"], job["exit_code"]) == ("done", 1, "green", 0)
        assert job["checks"] == [{"command": one, "exit_code": 0} for one in (tidy, CHECK)]
        assert job["files"] > 0
        assert git(person.repo, "for-each-ref", "refs/heads/agent").count("\n") == 0, "one branch, and only that"
        assert "No server is running" in said.err
        assert "not running" in person.types("down", expect=3).err
        assert "1 of 1 delivered" in person.types("morning", "--json").json["brief"]["headline"]
        adds_up(person)


def test_following_ends_with_its_server_and_says_that_the_work_resumes() -> None:
    with a_person() as person:
        person.adds_repo()
        with coding_until_it_asks(person, "--follow") as process:
            os.kill(int((person.home / "server.lock").read_text()), signal.SIGKILL)
            _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 5, err
        assert "what it was doing resumes at the next start" in err


def test_left_in_the_middle_the_work_is_kept_and_goes_on_at_the_next_start() -> None:
    with a_person(up=False) as person:
        knows_a_repo(person)
        with coding_until_it_asks(person) as process:
            os.kill(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, err
        assert "resumes at the next start: midwatch up --detach" in err
        person.ups()
        with person.watching() as watch:
            person.types("asks", "1")
            person.types("asks", "1", "approve")
            watch.until("Job 1 is done")
        assert len(person.types("job", "list", "--json").json) == 1
        person.types("down")
        adds_up(person)


def test_a_person_in_an_unknown_repository_may_add_it_is_shown_the_plan_and_asked_for_it() -> None:
    with a_person() as person:
        sample_repository(person.repo)
        refused = Terminal(person, "code", "Tidy up", folder=person.repo)
        refused.until("repo is not a project yet. Add ")
        refused.types("n\n")
        refused.until("repo was not added, and nothing was started.")
        assert refused.ends() == 2
        terminal = Terminal(person, "code", "Tidy up", "--check", CHECK, "--follow", folder=person.repo / "sample")
        terminal.until("repo is not a project yet. Add ")
        terminal.types("y\n")
        assert "you are shown its plan first" in terminal.until("Job 1 in repo")
        shown = terminal.until("or Enter for later: ")
        assert "[a]pprove" in shown
        assert "files: " in shown
        terminal.types("a\n")
        shown = terminal.until("midwatch job merge 1")
        assert "Pull request 1 in repo: Tidy up" in shown
        assert "checks green" in shown
        assert terminal.ends() == 0
        sample_repository(person.folder / "other")
        person.types("project", "add", "other", "--check", CHECK)
        second = Terminal(person, "code", "Tidy up", "--project", "other", "--follow", "--path", "sample/**")
        second.until("or Enter for later: ")
        second.types("r\n")
        second.until("why or what: ")
        second.types("not today\n")
        assert "The plan was rejected by" in second.until("midwatch job resume")
        assert second.ends() == 3
        person.types("down")
        adds_up(person)


def test_while_a_night_is_under_way_a_command_is_done_beside_it() -> None:
    with a_person() as person:
        person.adds_repo()
        sample_repository(person.folder / "other")
        person.types("project", "add", "other", "--check", CHECK)
        person.orders()
        person.types("start")
        said = person.types("code", "Tidy the other", "--project", "other", "--yes", "--follow", "--json").json
        assert said["jobs"][0]["exit_code"] == 0
        now = person.types("status", "--json").json
        assert (now["night"]["number"], now["night"]["state"]) == (1, "autonomous")
        busy = person.types("code", "Tidy", "--project", "repo", expect=None)
        if busy.code:  # the night's own job may be over by now
            assert (busy.code, "is running in repo." in busy.err) == (3, True)
        person.types("stop")
        person.types("down")


def test_after_two_commands_by_day_the_night_of_the_evening_is_night_1() -> None:
    """B7 of title 7: what is done by command is no night, takes no number, and is named by its time."""
    with a_person() as person:
        person.adds_repo()
        sample_repository(person.folder / "other")
        person.types("project", "add", "other", "--check", CHECK)
        for name in ("repo", "other"):
            person.types("code", "Tidy up", "--project", name, "--yes", "--follow")
        assert person.types("night").out.startswith("No nights yet.")
        by_day = person.types("morning").out
        assert re.match(r"The command of \d\d \w{3} \d\d:\d\d: 1 of 1 delivered as pull requests\.\n", by_day)
        assert "night" not in by_day.lower()
        assert person.orders(level="observe").out.startswith("Orders for tonight · level observe")
        assert any(line.startswith("Orders for tonight · briefing") for line in person.types("status").sentences)
        with person.watching() as watch:
            assert "Night 1 has begun" in person.types("start").out
            watch.until("Round 1 is over")
            person.types("stop", expect=None)  # it may have seen by itself that there is nothing it may do
            watch.until("The brief is ready (")
            watch.until("Night 1: observed only")
        assert not [line for line in watch.lines if re.search(r"[Cc]ommand \d|[Nn]ight [2-9]", line)]
        assert [row["number"] for row in person.types("night", "--json").json] == [1]
        assert person.types("morning").out.startswith("Night 1: observed only")
        assert person.types("morning", "--night", "1").out.endswith("Your verdicts: midwatch review --night 1\n")
        assert "The command of " in person.types("morning", "--job", "1").out
        assert "A command was given: Tidy up" in person.types("replay", "--job", "2", "--limit", "3").out
        rated = ("--usefulness", "4", "--trust", "4", "--brevity", "4", "--accept", "1")
        assert "\nThe command of " in person.types("review", "--job", "2", *rated).out
        assert "Name one of them" in person.types("morning", "--job", "1", "--night", "1", expect=2).err
        adds_up(person)


def test_what_cannot_be_is_one_sentence_with_what_to_do() -> None:
    with a_person() as person:
        person.adds_repo()
        for words, code, said in (
            (("Tidy", "--project", "nowhere"), 2, "There is no project 'nowhere'."),
            (("Tidy",), 2, "No project is named, and this folder is in no git repository."),
            (("  ", "--project", "repo"), 2, "The sentence is empty."),
            (("Tidy", "--project", "repo", "--agent", "nobody"), 2, "There is no agent 'nobody' here."),
            (("Tidy", "--project", "repo", "--interactive"), 2, "An interactive job needs a terminal."),
        ):
            answer = person.types("code", *words, expect=code)
            assert said in answer.err
            assert len(answer.err.strip().splitlines()) == 2, "what is wrong, and what to do"
        git(person.repo, "checkout", "-q", "--detach")
        assert "detached" in person.types("code", "Tidy", "--project", "repo", expect=2).err
        assert person.types("job", "list", "--json").json == []


@pytest.mark.parametrize("served", [True, False])
def test_by_hand_a_person_types_behind_the_walls_and_delivers_with_a_yes(*, served: bool) -> None:
    with a_person(up=served) as person:
        if served:
            person.adds_repo()
        else:
            knows_a_repo(person)
        terminal = Terminal(person, "code", "Say hello", "-p", "repo", "--interactive", "--agent", "shell")
        assert "Midwatch does not decide its tool calls" in terminal.until("leave it running with Ctrl-].").replace(
            "\r\n", " "
        )
        terminal.until(" $ ")
        terminal.types("echo hello > hello.txt; ls /root/nowhere || echo be''hind\n")
        terminal.until("behind")
        terminal.types("exit\n")
        terminal.until("Deliver? [y/N] ")
        terminal.types("y\n")
        terminal.until("midwatch job merge 1")
        assert terminal.ends() == 0
        branch = git(person.repo, "for-each-ref", "--format=%(refname:short)", "refs/heads/agent")
        assert git(person.repo, "show", f"{branch}:hello.txt") == "hello"
        if served:
            person.types("down")
        adds_up(person)


def test_by_hand_a_no_keeps_the_checkout() -> None:
    with a_person() as person:
        person.adds_repo()
        terminal = Terminal(person, "code", "Say hello", "-p", "repo", "--interactive", "--agent", "shell")
        terminal.until(" $ ")
        terminal.types("echo hello > hello.txt; exit\n")
        terminal.until("Deliver? [y/N] ")
        terminal.types("\n")
        assert "Its checkout is kept." in terminal.until("midwatch job resume")
        assert terminal.ends() == 3
        assert git(person.repo, "for-each-ref", "refs/heads/agent") == ""
        person.types("down")
        adds_up(person)
