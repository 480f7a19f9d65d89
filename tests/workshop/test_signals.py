"""What an agent puts into its signal folders: taken without being opened, bounded, and never part of its work."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from midwatch.rules.recovery.signals import MOST_SIGNALS
from midwatch.terms.agents import ANSWER_FILE, IN_CHECKOUT, SIGNALS, WARNING_FILE, SignalKind
from midwatch.workshop.git.checkouts import subjects_since
from midwatch.workshop.rooms.signal_files import Letterbox
from tests.nights.house import git, sample_repository

ASKS = SignalKind.NEEDS_INPUT


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("home", "tree"):
        (tmp_path / name).mkdir()
    return tmp_path


def box_in(place: Path) -> Letterbox:
    box = Letterbox(place / "home", place / "tree", place / "kept")
    box.open()
    return box


def test_a_file_is_taken_once_it_rests_and_put_away_once_it_is_handled(place: Path) -> None:
    box, file = box_in(place), place / "home" / SIGNALS / ASKS.file
    file.write_text('{"question": "Wh')
    assert box.claim() == (), "it may still be written"
    file.write_text('{"question": "Which?"}')
    assert box.claim() == ()
    (one,) = box.claim()
    assert (one.number, one.kind, json.loads(one.raw), one.wrong) == (1, ASKS, {"question": "Which?"}, "")
    assert not file.exists()
    assert box_in(place).claim() == (one,), "another server finds what was taken and not handled"
    box.archive(1)
    assert box.claim(at_once=True) == ()
    assert [path.name for path in (place / "kept").iterdir()] == ["0001.needs-input@home.json"]


@pytest.mark.parametrize("folder", [*IN_CHECKOUT, SIGNALS])
def test_an_answer_lies_where_the_question_lay(place: Path, folder: str) -> None:
    box, where = box_in(place), place / ("home" if folder == SIGNALS else "tree") / folder
    where.mkdir(exist_ok=True)
    (where / ASKS.file).write_text("{}")
    box.claim(at_once=True)
    box.archive(1)
    box.answer(1, {"answer": "blue"})
    assert json.loads((where / ANSWER_FILE).read_text()) == {"answer": "blue"}
    assert box.unread(1)
    box.take_back(1)
    assert not box.unread(1)


def test_a_warning_lies_in_the_home_until_it_is_read_or_taken_back(place: Path) -> None:
    box, file = box_in(place), place / "home" / SIGNALS / WARNING_FILE
    box.take_warning_back()
    assert not box.warning_unread()
    file.symlink_to(place / "elsewhere")
    box.warn("Be quick.")
    assert json.loads(file.read_text()) == {"warning": "Be quick."}
    assert not (place / "elsewhere").exists(), "a link in its place is not followed"
    assert (box.warning_unread(), box.claim(at_once=True)) == (True, ())
    box.take_warning_back()
    assert not box.warning_unread()
    (place / "home" / SIGNALS / ASKS.file).write_text("{}")
    assert [one.number for one in box.claim(at_once=True)] == [1], "what was taken back counts for nothing"


def test_a_link_a_pipe_a_folder_and_ten_megabytes_are_refused_plainly(place: Path) -> None:
    secret = place / "secret"
    secret.write_text('{"question": "secret"}')
    box, home = box_in(place), place / "home" / SIGNALS
    made: dict[str, Callable[[Path], object]] = {
        "it is a link": lambda path: path.symlink_to(secret),
        "it is a pipe": os.mkfifo,
        "it is a folder": lambda path: (path / "deep" / "er").mkdir(parents=True),
        "more than 64 KiB": lambda path: path.write_bytes(b"x" * 10_000_000),
    }
    for number, (why, make) in enumerate(made.items(), 1):
        make(home / ASKS.file)
        (one,) = box.claim(at_once=True)
        assert (one.number, one.raw) == (number, b"")
        assert why in one.wrong
        box.archive(number)
    kept = list((place / "kept").iterdir())
    assert all(path.is_file() and path.stat().st_size == 0 for path in kept), "nothing of it is kept"
    assert secret.read_text() == '{"question": "secret"}'


def test_a_linked_folder_leads_nowhere(place: Path) -> None:
    other = place / "other"
    other.mkdir()
    (other / ASKS.file).write_text('{"question": "theirs"}')
    (place / "tree" / ".midwatch").symlink_to(other)
    box = box_in(place)
    shutil.rmtree(place / "home" / SIGNALS)
    (place / "home" / SIGNALS).symlink_to(other)
    assert box.claim(at_once=True) == ()
    box.answer(1, {"answer": "x"})
    assert [path.name for path in other.iterdir()] == [ASKS.file], "and nothing is written through it"


def test_a_thousand_files_are_not_even_looked_at_and_a_flood_ends(place: Path) -> None:
    box, home = box_in(place), place / "home" / SIGNALS
    for number in range(1000):
        (home / f"needs-input-{number}.json").write_text("{}")
    assert box.claim(at_once=True) == ()
    for number in range(MOST_SIGNALS + 5):
        (home / SignalKind.ERROR.file).write_text("{}")
        assert len(box.claim(at_once=True)) == (1 if number < MOST_SIGNALS else 0)
        box.archive(number + 1)
    assert len(list((place / "kept").iterdir())) == MOST_SIGNALS


def test_commits_are_counted_without_git(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    base = git(source, "rev-parse", "HEAD")
    for subject in ("One", "Two"):
        git(source, "commit", "-q", "--allow-empty", "-m", f"{subject}\n\nwith a body")
    head = git(source, "rev-parse", "HEAD")
    assert subjects_since(source, head, base) == ("One", "Two")
    assert subjects_since(source, base, base) == ()
    assert subjects_since(source, "../../../etc/passwd", base) == ()
    loose = source / ".git" / "objects" / head[:2] / head[2:]
    loose.chmod(0o600)
    loose.write_bytes(b"x" * 100)
    assert subjects_since(source, head, base) == (), "what cannot be read ends the walk"
