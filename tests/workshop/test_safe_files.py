"""What an agent left in our way is read carefully, and looking at it costs nothing (X3)."""

import os
from pathlib import Path

import pytest

from midwatch.workshop.sandbox import safe_files


def _open() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _put(place: Path, what: str) -> None:
    if what == "a folder":
        place.mkdir()
    elif what == "a pipe":
        os.mkfifo(place)
    elif what == "a link":
        place.symlink_to("/etc/hostname")
    else:
        place.write_bytes(b"x" * 11)


@pytest.mark.parametrize("what", ["a folder", "a pipe", "a link", "a file too long"])
def test_a_look_at_what_is_no_file_of_ours_leaves_nothing_open(tmp_path: Path, what: str) -> None:
    _put(tmp_path / "milestones", what)
    assert safe_files.read(tmp_path, "milestones", most=10) is None
    before = _open()
    assert {safe_files.read(tmp_path, "milestones", most=10) for _ in range(20)} == {None}
    assert _open() == before


def test_a_file_is_read_and_closed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"words")
    before = _open()
    assert {safe_files.read(tmp_path, "a", most=10) for _ in range(20)} == {b"words"}
    assert _open() == before
