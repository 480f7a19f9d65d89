"""Following, opening and entering jobs from a real terminal, over servers that come and go."""

import json
import os
import re
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from midwatch.surfaces.cli.jobs import tmux
from tests.conftest import missing
from tests.nights.house import sample_repository
from tests.patience import PATIENCE
from tests.surfaces.forked import OnTerminal
from tests.surfaces.person import Person, a_person, command

pytestmark = pytest.mark.slow


class Terminal:
    """A real terminal with one of our commands on it."""

    def __init__(self, person: Person, *words: str, folder: Path | None = None, **more: str) -> None:
        environment = person.environment | {"TERM": "xterm"} | more
        self._command = OnTerminal(words, folder=folder or person.folder, environment=environment)
        self._screen = self._command.screen
        self.shown = b""

    def types(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def sees(self, words: str, seconds: float) -> bool:
        """Tell whether some words come on the screen soon."""
        end = time.monotonic() + seconds
        while words.encode() not in self.shown and time.monotonic() < end:
            if select.select([self._screen], [], [], 0.2)[0]:
                self.shown += self._read() or self._over(words)
        return words.encode() in self.shown

    def until(self, words: str) -> str:
        """Read the screen until some words are on it; what came after them is read next time."""
        end = time.monotonic() + PATIENCE
        while words.encode() not in self.shown:
            assert time.monotonic() < end, self.shown
            if select.select([self._screen], [], [], 1)[0]:
                self.shown += self._read() or self._over(words)
        end_of_words = self.shown.index(words.encode()) + len(words.encode())
        shown, self.shown = self.shown[:end_of_words], self.shown[end_of_words:]
        return shown.decode(errors="replace")

    def _read(self) -> bytes:
        try:
            return os.read(self._screen, 65536)
        except OSError:
            return b""

    def _over(self, words: str) -> bytes:
        raise AssertionError(f"{words!r} never came: {self.shown!r}")

    def ends(self) -> int:
        """Wait for the command's end."""
        while self._read():
            pass
        return self._command.ends()


@contextmanager
def following(person: Person, *words: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        command(words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=person.environment | {"PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def ann() -> Iterator[Person]:
    """Somebody whose first job is done; meanwhile its log was followed through a restart of the server."""
    with a_person() as person:
        person.adds_repo()
        person.orders()
        person.types("start")
        with person.watching() as watch:
            watch.until("Ask 1 for you")
        with following(person, "job", "log", "1", "-f") as log:
            assert log.stdout is not None
            first = log.stdout.readline()
            person.types("down")
            person.ups()
            shown = person.home / "asks-shown.json"
            assert not shown.exists(), "watch prints one line of an ask"
            assert "  undo: " in person.types("status").out
            assert "no terminal" in shown.read_text(), "of one ask, status prints all"
            shown.write_text('{"no terminal": {"ask": 1}}')
            said = person.types("asks", "1", "approve", expect=3)  # nothing shows that it was read here
            assert "Ask 1 was not shown here as it is now." in said.err
            assert "Ask 1 · repo · approve plan · open" in said.out
            person.types("asks", "1", "approve")
            assert log.stderr is not None
            rest, complaints = log.stdout.read(), log.stderr.read()  # communicate() loses what readline() read ahead
            log.wait(PATIENCE)
        (person.folder / "followed").write_text(first + rest)
        assert "Traceback" not in complaints
        assert log.returncode == 0
        yield person


def test_a_followed_log_goes_on_over_a_restart_and_ends_with_the_job(ann: Person) -> None:
    followed = (ann.folder / "followed").read_text()
    assert followed == ann.types("job", "log", "1").out
    assert len(followed.splitlines()) > 2
    assert ann.types("job", "log", "1", "-f").out == followed
    assert ann.types("job", "attach", "1", "--no-tmux").out == followed


def test_a_log_is_readable_and_its_protocol_only_on_request(ann: Person) -> None:
    readable, raw = ann.types("job", "log", "1").out, ann.types("job", "log", "1", "--raw").out
    lines = [json.loads(line) for line in ann.types("job", "log", "1", "--json").out.splitlines()]
    said = [json.loads(line)["text"] for line in raw.splitlines()]
    assert [line["text"] for line in lines] == said
    assert {line["does"] for line in lines} == {"said"}
    assert all(f"said      {text}" in readable for text in said)
    assert '"text"' not in readable
    assert "\x1b" not in readable, "a pipe gets no colours"
    assert ann.types("job", "log", "1", "--raw", "-f").out == raw
    assert "Leave out --raw or --json" in ann.types("job", "log", "1", "--raw", "--json", expect=2).err


def test_a_log_is_read_on_without_any_server(ann: Person) -> None:
    ann.types("down")
    try:
        assert ann.types("job", "log", "1", "-f").out == (ann.folder / "followed").read_text()
        assert ann.types("job", "line", "1", "-f").out.startswith("job 1 in repo, Tidy up: done (housekeeper, ")
    finally:
        ann.ups()


def test_open_tells_where_it_lies_and_what_is_nowhere_else(ann: Person) -> None:
    said = ann.types("job", "open", "1").out.splitlines()
    tree = Path(said[0])
    assert (tree / "check.py").is_file()
    assert "on agent/job_" in said[1]
    assert "  all of it is in the mirror" in said
    assert ann.types("job", "open", "1", "--json").json[-1]["tree"] == str(tree)
    (tree / "thought.txt").write_text("unfinished\n")
    try:
        assert "nowhere else: 1 new file (thought.txt)" in ann.types("job", "open", "1").out
        refused = ann.types("job", "discard", "1", expect=3)
        assert "1 new file (thought.txt)" in refused.err
        (tree / "thought.txt").rename(tree / "a\x1b[2K\u202eb")
        assert "(ab)" in ann.types("job", "discard", "1", expect=3).err
    finally:
        for made in (tree / "thought.txt", tree / "a\x1b[2K\u202eb"):
            made.unlink(missing_ok=True)
    assert "cannot be resumed" in ann.types("job", "resume", "1", expect=3).err


def test_a_shell_is_walled_outlives_its_window_and_its_server(ann: Person) -> None:
    shell = Terminal(ann, "job", "open", "1", "--shell", "--", "/bin/sh")
    shell.until("Leave it running with Ctrl-]")
    shell.types("echo here-$((40+2)); ls check.py\r")
    assert "check.py" in shell.until("here-42\r\ncheck.py")
    shell.types("\x1d")
    shell.until("midwatch job attach 1")
    assert shell.ends() == 0
    assert "A shell is open" in ann.types("job", "discard", "1", "--force", expect=3).err
    ann.types("down")
    again = Terminal(ann, "job", "attach", "1")
    again.until("here-42")
    again.types("echo still-$((1+1)); stty size\r")
    again.until("still-2\r\n")
    again.types("exit 0\r")
    again.until("ended")
    assert again.ends() == 0
    ann.ups()


def test_a_shell_needs_a_terminal_and_a_job_that_is_over(ann: Person) -> None:
    assert "needs a terminal" in ann.types("job", "open", "1", "--shell", expect=2).err


def test_attach_shows_log_and_standing_side_by_side_in_tmux(ann: Person) -> None:
    if not shutil.which("tmux"):
        missing("tmux", "there is no tmux")
    place = {"TMUX_TMPDIR": str(ann.folder), "TMUX": ""}
    window = Terminal(ann, "job", "attach", "1", TMUX_TMPDIR=place["TMUX_TMPDIR"], TMUX=place["TMUX"])
    try:
        window.until("job 1 in repo, Tidy up: done")
        asked = ["tmux", "list-panes", "-t", "=midwatch-job-1:", "-F", "#{pane_start_command}"]
        panes = subprocess.run(asked, capture_output=True, text=True, check=True, env=ann.environment | place).stdout
        assert "job log 1 -f" in panes
        assert "job line 1 -f" in panes
    finally:
        subprocess.run(["tmux", "kill-server"], check=False, env=ann.environment | place)
        window.ends()


def test_a_log_that_is_over_at_once_stays_readable_in_tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not shutil.which("tmux"):
        missing("tmux", "there is no tmux")
    for name, value in {"TMUX_TMPDIR": str(tmp_path), "TMUX": "", "MIDWATCH_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(tmux, "_ours", lambda *_: "true")
    try:
        tmux.make(1, "midwatch-job-1")
        panes = subprocess.run(
            ["tmux", "list-panes", "-t", "=midwatch-job-1:"], capture_output=True, text=True, check=True
        )
        assert len(panes.stdout.splitlines()) == 2
    finally:
        subprocess.run(["tmux", "kill-server"], check=False)


def test_without_tmux_attach_says_so_and_follows_the_log(ann: Person) -> None:
    tools = ann.folder / "bin"
    tools.mkdir()
    window = Terminal(ann, "job", "attach", "1", PATH=str(tools))
    window.until("tmux is not installed")
    assert window.ends() == 0


def test_doctor_tells_walls_toolchains_and_the_room_kept_work_takes(ann: Person) -> None:
    said = ann.types("doctor", MIDWATCH_SANDBOX__TOOLCHAINS="node,/proc").out
    assert "jobs are walled" in said or "jobs are half-walled" in said or "no walls" in said
    assert "toolchains lent to jobs: node\n" in said
    assert "The toolchain /proc cannot be used" in said
    assert "midwatch settings propose sandbox.toolchains=" in said
    assert "kept checkouts take " in said


def test_a_link_for_a_person_who_does_not_exist_says_who_does_and_how_to_add_one(ann: Person) -> None:
    for words in (("link", "zoe"), ("role", "zoe", "owner"), ("remove", "zoe")):
        said = ann.types("person", *words, expect=2).err
        assert "There is no person 'zoe'. No person has a login yet." in said
        assert "midwatch person link --role viewer" in said


def test_what_was_found_in_a_project_is_named_when_it_is_added_and_shown(ann: Person) -> None:
    """A project that names no checks and no setup still has some; a person reads which before the night."""
    files = {"Makefile": "test:\n\t@true\n", "package-lock.json": "{}", "pyproject.toml": "[project]\nname = 'x'\n"}
    sample_repository(ann.folder / "tools", files)
    added = ann.types("project", "add", "tools").out
    shown = ann.types("project", "show", "tools").out
    for said in (added, shown):
        assert "check: make test (found in it; tried in the evening, by the preflight)" in said
        assert "setup: npm ci (found: package-lock.json is there; not run yet)" in said
        assert said.count("change tools --setup") == 1, "one proposal has both, because a setup replaces another"
        assert re.search(r'project change tools --setup "python3 -m venv [^"]* && npm ci"', " ".join(said.split()))
        assert "midwatch settings propose sandbox.setup_domains+=pip,npm --apply" in " ".join(said.split())
    whole = ann.types("project", "show", "tools", "--json").json
    assert whole["found_checks"] == ["make test"]
    assert [(one["file"], one["runs"]) for one in whole["found_setup"]] == [
        ("pyproject.toml", False),
        ("package-lock.json", False),
    ]
    ann.types("project", "change", "tools", "--check", "none", "--setup", "none")
    named = ann.types("project", "show", "tools", "--json").json
    assert (named["found_checks"], named["found_setup"]) == ([], [])
    ann.types("project", "remove", "tools")
    again = ann.types("project", "add", "tools", "--name", "tools2", "--json").json
    assert (again["name"], again["found_checks"]) == ("tools2", ["make test"])
    ann.types("project", "remove", "tools2")


def test_a_project_has_a_setup_by_hand(ann: Person) -> None:
    ann.types("project", "change", "repo", "--setup", "./prepare")
    assert "setup: ./prepare" in ann.types("project", "show", "repo").out
    ann.types("project", "change", "repo", "--setup", "")
    assert "./prepare" not in ann.types("project", "show", "repo").out


def test_a_discarded_checkout_is_gone(ann: Person) -> None:
    tree = Path(ann.types("job", "open", "1").out.splitlines()[0])
    aside = shutil.copytree(tree.parents[1], ann.folder / "aside", symlinks=True)  # the other tests need it too
    try:
        assert "freed." in ann.types("job", "discard", "1").out
        assert not tree.exists()
        assert "no checkout any more" in ann.types("job", "open", "1", expect=2).err
    finally:
        shutil.move(aside, tree.parents[1])
