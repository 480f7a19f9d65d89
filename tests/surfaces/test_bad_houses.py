"""A house that cannot be opened says why in one sentence, exits as it should, and leaves what lies there alone."""

import contextlib
import os
import resource
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.nights.house import CHECK, sample_repository
from tests.patience import PATIENCE
from tests.surfaces.person import SETTINGS, Person, Said, a_person, command


@pytest.fixture
def person() -> Iterator[Person]:
    with a_person(up=False) as someone:
        yield someone


def both_ways(person: Person, code: int, **more: str) -> Said:
    """In front and in the background the same is said with the same exit code."""
    front = person.types("up", expect=code, **more)
    back = person.types("up", "--detach", expect=code, **more)
    assert back.err == front.err
    assert len(front.err.splitlines()) == 2, front.err
    return front


def test_a_broken_settings_file_is_named_with_its_line(person: Person) -> None:
    person.settles(SETTINGS + "[rounds\n")
    assert "midwatch.toml" in both_ways(person, 2).err
    person.settles(SETTINGS + "[rounds]\ninterval_seconds = -1\n")
    assert "interval_seconds" in both_ways(person, 2).err
    assert "bad" in person.types("doctor", expect=5).out
    assert not (person.home / "midwatch.db").exists()


def test_a_bad_environment_variable_is_named(person: Person) -> None:
    said = both_ways(person, 2, MIDWATCH_ROUNDS__INTERVAL_SECONDS="soon")
    assert "interval_seconds" in said.err.lower()


def test_a_path_too_long_for_a_socket_is_named_before_anything_is_made(person: Person) -> None:
    far = person.folder / ("x" * 100)
    assert "too long for a socket" in person.types("up", expect=2, MIDWATCH_HOME=str(far)).err
    assert not (far / "midwatch.db").exists()
    assert "not running" in person.types("pause", expect=5, MIDWATCH_HOME=str(far)).err


def test_a_file_in_the_folders_place_is_named(person: Person) -> None:
    place = person.folder / "file"
    place.write_text("mine")
    assert "file" in person.types("up", expect=2, MIDWATCH_HOME=str(place)).err
    assert "file" in person.types("up", "--detach", expect=2, MIDWATCH_HOME=str(place)).err
    assert place.read_text() == "mine"
    assert "Not a directory" in person.types("status", expect=2, MIDWATCH_HOME=str(place)).err
    assert "is not a folder" in person.types("demo", "--home", str(place), expect=2).err


def test_a_folder_that_may_not_be_written_is_named(person: Person) -> None:
    locked = person.folder / "locked"
    locked.mkdir(mode=0o500)
    if os.geteuid() == 0:
        with tiny_disk(locked, "ro,size=64k"):
            assert "cannot be written" in person.types("up", expect=2, MIDWATCH_HOME=str(locked)).err
    else:
        assert "cannot be written" in person.types("up", expect=2, MIDWATCH_HOME=str(locked)).err


def test_garbage_in_the_databases_place_is_named_and_kept(person: Person) -> None:
    garbage = b"this is no database " * 500
    (person.home / "midwatch.db").write_bytes(garbage)
    assert "file is not a database" in both_ways(person, 6).err
    read = person.types("status", expect=None)
    assert read.code in {3, 6}
    assert "not a database" in read.err
    assert (person.home / "midwatch.db").read_bytes() == garbage


def test_a_database_newer_than_the_code_is_left_alone(person: Person) -> None:
    person.ups()
    before = person.head()
    person.types("down")
    (newest,) = revise(person, "9999_from_the_future")
    assert "written by a newer midwatch" in both_ways(person, 3).err
    (was,) = revise(person, "9999_from_the_future")
    assert was == "9999_from_the_future"
    revise(person, newest)
    person.ups()
    assert person.head() == before


def revise(person: Person, version: str) -> tuple[str]:
    """Say the database has another shape; return what it said before."""
    with closing(sqlite3.connect(person.home / "midwatch.db")) as database, database:
        before: tuple[str] = database.execute("select version_num from midwatch_version").fetchone()
        database.execute("update midwatch_version set version_num = ?", (version,))
    return before


def test_a_server_that_was_killed_starts_again(person: Person) -> None:
    person.ups()
    person.adds_repo()
    before = person.head()
    os.kill(int((person.home / "server.lock").read_text()), 9)
    assert person.types("project").out.count("repo") >= 1  # read without it, beside its stale socket
    assert (person.home / "midwatch.sock").exists()
    person.ups()
    assert person.head() == before


@contextmanager
def tiny_disk(where: Path, options: str) -> Iterator[None]:
    """A disk of its own, if this user may mount one."""
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root can mount a small disk")
    done = subprocess.run([mount, "-t", "tmpfs", "-o", options, "tmpfs", str(where)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"mount says no: {done.stderr.decode()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(where)], check=True)


def test_no_room_at_the_start_is_named_and_leaves_nothing_half_made(person: Person) -> None:
    small = person.folder / "small"
    small.mkdir()
    with tiny_disk(small, "size=512k"):
        said = person.types("up", expect=4, MIDWATCH_HOME=str(small))
        assert "cannot be written: No space left on device" in said.err
        assert [path.name for path in small.iterdir()] == []


def test_no_room_for_files_at_the_start_is_named_without_being_root(person: Person) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        command(("up",)),
        env=person.environment,
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 4, done.stderr
    assert "File too large" in done.stderr
    assert not (person.home / "midwatch.db").exists()


def test_a_disk_that_fills_up_in_the_night_loses_nothing_and_the_night_goes_on() -> None:
    folder = Path(tempfile.mkdtemp(prefix="mw", dir="/tmp"))
    person = Person(folder)
    person.home.mkdir()
    try:
        with tiny_disk(person.home, "size=24m"):
            little = "min_free_disk_mib = 1"  # for jobs to start, and for those that run
            person.settles(SETTINGS.replace("min_free_disk_mib = 64", little) + f"[sandbox]\n{little}\n")
            person.ups()
            try:
                fill_and_free(person)
            finally:
                person.types("down", expect=None)
    finally:
        shutil.rmtree(folder)


def fill(ballast: Path) -> None:
    """Write until nothing more goes in."""
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)


def fill_and_free(person: Person) -> None:
    sample_repository(person.repo)
    person.types("project", "add", "repo", "--check", CHECK)
    person.orders()
    person.types("start")
    with person.watching() as watch:
        watch.until("Ask 1 for you")
    before = person.head()
    ballast = person.home / "ballast"
    fill(ballast)
    told = person.types("project", "change", "repo", "--purpose", "W" * 100_000, expect=None)
    assert told.code == 4, told
    assert "disk is full" in told.err
    ballast.unlink()
    assert person.head() == before
    person.types("asks", "1")
    person.types("asks", "1", "approve")
    with person.watching() as watch:
        watch.until("The brief is ready")
    assert person.types("doctor", "--verify", "--invariants", "--json").json["ok"]
    assert person.types("status", "--json").json["pull_requests"]


def test_what_the_server_fails_at_again_and_again_is_in_status_and_doctor(person: Person) -> None:
    """An odd name in the list of processes, which only the server's patrol reads."""
    odd = person.home / "held" / "job_x" / "epoch-of-nothing"
    person.settles()
    odd.mkdir(parents=True)
    person.ups()
    try:
        while not (found := person.types("status", "--json").json["troubles"]):
            time.sleep(0.2)
        assert found[0].startswith("Ending lost processes failed 1 time in a row: ValueError")
        assert "Ending lost processes failed " in person.types("status").out
        assert "look Ending lost processes failed " in person.types("doctor").out
    finally:
        odd.rmdir()
