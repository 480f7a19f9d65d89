"""The data folder is its owner's alone, whatever the umask, and no log holds a link (A2 of title 7)."""

import contextlib
import json
import os
import pwd
import re
import select
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import midwatch
from tests.conftest import missing
from tests.patience import PATIENCE
from tests.surfaces import person as at_home
from tests.surfaces.forked import OnTerminal
from tests.surfaces.person import Person, a_person, command

UMASKS = (0o000, 0o077)
LINK = re.compile(r"http://[^/\s]+/welcome\?key=\S+")
SECOND_USER = """\
import json, os, socket, sys
home, paths = json.load(sys.stdin)
got = []
for place, folders, files in os.walk(home):
    got.append(f"listed {place}")
for path in paths:
    for way in (os.O_RDONLY, os.O_WRONLY):
        try:
            os.close(os.open(path, way | os.O_NONBLOCK))
            got.append(f"opened {path}")
        except OSError:
            pass
    try:
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(path)
            caller.sendall(b"GET /api/v1/people HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n")
            if caller.recv(1):
                got.append(f"answered at {path}")
    except OSError:
        pass
print(json.dumps(got))
"""


@pytest.fixture
def person() -> Iterator[Person]:
    """Somebody whose data folder was made by hand, and lies where everybody can look."""
    with a_person(up=False) as one:
        one.folder.chmod(0o755)
        one.settles(at_home.SETTINGS)
        (one.home / "server.log").write_text("an older log\n")
        one.home.chmod(0o755)
        for path in one.home.iterdir():
            path.chmod(0o644)
        yield one


def runs(person: Person, *words: str, umask: int) -> "subprocess.CompletedProcess[str]":
    """Run a command in a process of its own, with this umask and no terminal."""
    return subprocess.run(
        command(words),
        cwd=person.folder,
        env=person.environment,
        umask=umask,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )


def open_to_others(home: Path) -> list[str]:
    """What in the folder has a bit for anybody but its owner; in its own tree an agent sets modes as it likes."""
    found = [path for path in (home, *home.rglob("*")) if not {"tree", "home"} & set(path.relative_to(home).parts[:-1])]
    return [str(path) for path in found if not path.is_symlink() and stat.S_IMODE(path.lstat().st_mode) & 0o077]


def seen_by_another(home: Path) -> Any:
    """What a second user of this machine gets at, who knows every name in the folder."""
    if os.geteuid() != 0:
        missing("root", "only root can act as a second user")
    nobody = pwd.getpwnam("nobody")
    done = subprocess.run(
        ["/usr/bin/python3", "-c", SECOND_USER],
        input=json.dumps([str(home), [str(path) for path in home.rglob("*")]]),
        cwd="/",
        env={},
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("umask", UMASKS)
def test_a_second_user_gets_at_nothing_and_nobody_answers_them(person: Person, umask: int) -> None:
    said = runs(person, "up", "--detach", umask=umask)
    try:
        person.types("agent", "login", "claude", "--keep", text="sk-ant-api03-somebody-s-own-key", expect=None)
        assert (person.home / "midwatch.sock").is_socket()
        assert stat.S_IMODE(person.home.stat().st_mode) == 0o700
        assert open_to_others(person.home) == []
        assert seen_by_another(person.home) == []
        assert not LINK.search(said.stdout + said.stderr + (person.home / "server.log").read_text())
        assert "Make your login: midwatch person link --role owner" in said.stdout
    finally:
        person.types("down")
    assert open_to_others(person.home) == []


def test_a_second_user_gets_no_answer_even_where_modes_were_opened_by_hand(person: Person) -> None:
    runs(person, "up", "--detach", umask=0o077)
    try:
        person.home.chmod(0o755)
        (person.home / "midwatch.sock").chmod(0o666)
        assert f"answered at {person.home}/midwatch.sock" not in seen_by_another(person.home)
        assert person.types("status", "--json").out, "its owner is still answered"
    finally:
        person.types("down")


@pytest.mark.parametrize("umask", UMASKS)
def test_the_folder_of_a_demo_is_private_too(person: Person, umask: int) -> None:
    runs(person, "demo", "--json", umask=umask)
    demo = person.home / "demo"
    assert (demo / "midwatch.db").exists()
    assert open_to_others(demo) == []
    assert seen_by_another(demo) == []
    # What a job delivers into a repository is as open as that repository was.
    assert stat.S_IMODE((demo / "sample-shop").stat().st_mode) == 0o700


def test_a_repository_of_the_person_s_own_stays_as_open_as_it_is(person: Person) -> None:
    runs(person, "up", "--detach", umask=0o022)
    try:
        person.adds_repo()
        person.repo.chmod(0o755)
        person.types("code", "Tidy up", "--project", "repo", "--yes", "--follow")
        branch = next((person.repo / ".git" / "refs" / "heads" / "agent").iterdir())
        assert stat.S_IMODE(branch.stat().st_mode) & 0o044 == 0o044
    finally:
        person.types("down")


@pytest.mark.parametrize("detached", [True, False])
def test_the_terminal_that_asked_gets_the_link_and_the_log_does_not(person: Person, *, detached: bool) -> None:
    words = ("up", "--detach") if detached else ("up",)
    screen = OnTerminal(words, folder=person.folder, environment=person.environment)
    try:
        shown = reads(screen.screen, LINK)
        assert "/welcome?key=" in shown
        assert not LINK.search((person.home / "server.log").read_text())
    finally:
        if detached:
            with contextlib.suppress(OSError):  # the terminal is over when the command is
                while os.read(screen.screen, 1 << 16):
                    pass
            assert screen.ends() == 0
        person.types("down")
        if not detached:
            screen.ends()


def reads(screen: int, wanted: "re.Pattern[str]") -> str:
    """Read a terminal until it shows this."""
    shown, until = "", time.monotonic() + PATIENCE
    while not wanted.search(shown):
        left = until - time.monotonic()
        assert select.select([screen], [], [], max(left, 0))[0], shown
        shown += os.read(screen, 1 << 16).decode(errors="replace")
    return shown


def test_a_folder_full_of_other_things_is_not_closed_to_others(person: Person) -> None:
    shared = person.folder / "shared"
    shared.mkdir(mode=0o755)
    (shared / "notes.txt").write_text("somebody else reads this\n")
    said = person.types("up", "--detach", expect=3, MIDWATCH_HOME=str(shared))
    assert "holds other files, and others may open it" in said.err
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
    assert sorted(path.name for path in shared.iterdir()) == ["notes.txt"]


@pytest.mark.parametrize(("planted", "target"), [("midwatch.toml", "theirs.toml"), ("blobs/server.log", "")])
def test_what_another_user_put_into_an_open_folder_is_not_used(person: Person, planted: str, target: str) -> None:
    """A settings file of theirs could name a program to run; a link of theirs, a file of ours to write to."""
    if os.geteuid() != 0:
        missing("root", "only root can act as a second user")
    nobody = pwd.getpwnam("nobody")
    theirs = person.folder / "theirs.toml"
    theirs.write_text("[server]\nport = 0\n")
    path = person.home / planted
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(person.folder / target) if target else path.write_text("planted\n")
    os.chown(path, nobody.pw_uid, nobody.pw_gid, follow_symlinks=False)
    person.home.chmod(0o777)
    for _ in range(2):  # the second start finds it too
        said = person.types("up", "--detach", expect=3)
        assert f"{path}, in the data folder, belongs to another user." in said.err
    path.unlink()
    runs(person, "up", "--detach", umask=0o000)
    person.types("down")
    assert stat.S_IMODE(person.home.stat().st_mode) == 0o700


def test_a_folder_of_another_user_is_not_used(person: Person) -> None:
    if os.geteuid() != 0:
        missing("root", "only root can act as a second user")
    nobody = pwd.getpwnam("nobody")
    os.chown(person.home, nobody.pw_uid - 1, nobody.pw_gid)
    person.home.chmod(0o777)
    asked = (
        "from pathlib import Path; from midwatch.settings.folder import close_to_others; close_to_others(Path({!r}))"
    )
    done = subprocess.run(
        ["/usr/bin/python3", "-c", asked.format(str(person.home))],
        cwd="/",
        env={"PYTHONPATH": str(Path(midwatch.__file__).parents[1])},
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"The data folder {person.home} belongs to another user." in done.stderr
