"""A program that a person names does nothing to the folder where a command is typed (A1 of title 7)."""

import ctypes
import errno
import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.surfaces import person as at_home
from tests.surfaces.person import Person, a_person, command

SETTINGS = at_home.SETTINGS.replace("[server]", "[server]\nport = 0")
CARELESS = """\
#!/bin/sh
# Ignores its arguments and does its work at once, as scripts do.
echo ran >> {outside}
echo ran >> ran-here
git add -A && git -c user.name=x -c user.email=x@example.com commit -qm "Not asked for"
echo 2.1.325
"""
TABLES = """\
[agents.mine]
speaks = "command"
program = "{program}"
[agents.spoken]
speaks = "acp"
program = "{program}"
provider = "openai"
[agents.claude]
program = "{program}"
[agents.codex]
program = "{program}"
"""


@pytest.fixture
def person() -> Iterator[Person]:
    """Somebody who stands in a repository of theirs, with agents that are a script."""
    with a_person(up=False) as one:
        subprocess.run(["git", "init", "-q", "-b", "main", str(one.folder)], check=True)
        (one.folder / ".gitignore").write_text("h/\n")
        git = ["git", "-C", str(one.folder), "-c", "user.name=x", "-c", "user.email=x@example.com"]
        subprocess.run([*git, "add", ".gitignore"], check=True)
        subprocess.run([*git, "commit", "-qm", "Begin"], check=True)
        (one.folder / "unsaved.txt").write_text("the person's own work\n")
        program = one.folder.parent / f"{one.folder.name}-bin" / "agent.sh"
        program.parent.mkdir()
        program.write_text(CARELESS.format(outside=program.parent / "ran"))
        program.chmod(0o755)
        one.settles(SETTINGS + TABLES.format(program=program))
        yield one
        for path in program.parent.iterdir():
            path.unlink()
        program.parent.rmdir()


def traces(person: Person) -> list[str]:
    """What the script would have left: a commit, a file here, a file elsewhere."""
    log = subprocess.run(["git", "log", "--format=%s"], cwd=person.folder, capture_output=True, text=True, check=True)
    left = [line for line in log.stdout.splitlines() if line == "Not asked for"]
    beside = person.folder.parent / f"{person.folder.name}-bin" / "ran"
    return [*left, *(str(path) for path in (person.folder / "ran-here", beside) if path.exists())]


@pytest.mark.parametrize("up", [False, True])
def test_asking_about_agents_runs_none_of_them_outside_a_sandbox(person: Person, *, up: bool) -> None:
    if up:
        person.ups()
    for words in (("agent", "list"), ("doctor",), ("agent", "test"), ("agent", "test", "mine")):
        person.types(*words, expect=None)
        assert traces(person) == []
    row = next(one for one in person.types("agent", "list", "--json").json if one["name"] == "mine")
    assert (row["version"], row["missing"], row["ready"]) == ("", "", up)  # only a server can try it in a sandbox
    assert traces(person) == []


def without_bubblewrap(person: Person) -> str:
    bare = person.folder / "tools"
    bare.mkdir()
    for tool in ("git", "sh"):
        (bare / tool).symlink_to(f"/usr/bin/{tool}")
    return str(bare)


def without_landlock() -> None:
    """Let this process and its children find a kernel that has no Landlock."""
    ask, allow = 444, 0x7FFF_0000  # landlock_create_ruleset, on every architecture
    refuse = 0x0005_0000 | errno.ENOSYS
    steps = ((0x20, 0, 0, 0), (0x15, 0, 1, ask), (0x06, 0, 0, refuse), (0x06, 0, 0, allow))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, program, 0, 0) == 0, os.strerror(ctypes.get_errno())


def test_on_a_machine_without_any_sandbox_they_are_not_run_at_all(person: Person) -> None:
    around = person.environment | {"PATH": without_bubblewrap(person)}
    for words in (("agent", "list"), ("doctor",), ("agent", "test")):
        subprocess.run(
            command(words), cwd=person.folder, env=around, preexec_fn=without_landlock, timeout=PATIENCE, check=False
        )
        assert traces(person) == []


def test_on_a_machine_without_bubblewrap_they_leave_nothing_either(person: Person) -> None:
    bare = without_bubblewrap(person)
    for words in (("agent", "list"), ("doctor",), ("agent", "test")):
        person.types(*words, expect=None, PATH=bare)
    assert traces(person) == []


def test_a_program_named_by_a_path_from_here_is_refused(person: Person) -> None:
    (person.folder / "agent.sh").write_text("#!/bin/sh\necho 1.0\n")
    (person.folder / "agent.sh").chmod(0o755)
    person.settles(SETTINGS + TABLES.format(program="./agent.sh"))
    row = next(one for one in person.types("agent", "list", "--json").json if one["name"] == "mine")
    assert (row["ready"], row["missing"]) == (
        False,
        "./agent.sh depends on the current folder. Name the program by its whole path.",
    )


def test_a_server_in_the_background_does_not_stay_in_the_current_folder(person: Person) -> None:
    (person.folder / "typer.py").write_text(f"open({str(person.folder / 'ran-here')!r}, 'w')\n")
    relative = os.path.relpath(person.home, person.folder)
    person.types("up", "--detach", MIDWATCH_HOME=relative)
    try:
        pid = int((person.home / "server.lock").read_text())
        assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")
        assert traces(person) == []
    finally:
        person.types("down", MIDWATCH_HOME=relative)
