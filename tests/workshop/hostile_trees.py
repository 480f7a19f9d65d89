"""Folders as an agent may leave them: each is made by a function, and can be removed by `remove` alone."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

LONG = "n" * 255
LEVELS = 5_000


def nest(top: Path, levels: int = LEVELS, name: str = "d", *, content: bytes = b"") -> None:
    """Make folders inside each other, far below the longest path that there is, and a file in the last one."""
    top.mkdir(parents=True, exist_ok=True)
    here = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=here)
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    with os.fdopen(os.open("last", os.O_WRONLY | os.O_CREAT, dir_fd=here), "wb") as file:
        file.write(content)
    os.close(here)


def _closed(top: Path) -> None:
    for name in ("a", "a/b", "a/b/c"):
        (top / name).mkdir(parents=True)
        (top / name / "file").write_text("x")
    for name, mode in (("a/b/c", 0), ("a/b", 0o300), ("a", 0o400)):
        (top / name).chmod(mode)


def _odd_names(top: Path) -> None:
    top.mkdir()
    for name in (b"\xff\xfe", b"new\nline", b" ", b"-rf", b"\x01", LONG.encode()):
        place = top / os.fsdecode(name)
        place.mkdir()
        (place / os.fsdecode(name)).touch()


def _no_files(top: Path) -> None:
    top.mkdir()
    os.mkfifo(top / "pipe")
    folder = os.open(top, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"/proc/self/fd/{folder}/socket")  # an address has no room for a long path
    os.close(folder)


def _links(top: Path) -> None:
    outside = top.with_name("outside")
    outside.mkdir()
    (outside / "kept").write_text("kept")
    top.mkdir()
    (top / "up").symlink_to("..")
    (top / "loop").symlink_to("loop")
    (top / "away").symlink_to(outside)
    (top / "hard").hardlink_to(outside / "kept")
    for number in range(10):
        (top / f"hard-{number}").hardlink_to(outside / "kept")


def _read_only(top: Path) -> None:
    (top / "in").mkdir(parents=True)
    (top / "in" / "file").write_text("x")
    (top / "in" / "file").chmod(0)
    (top / "in").chmod(0o555)
    top.chmod(0o555)


TREES: dict[str, Callable[[Path], None]] = {
    "nested": nest,
    "nested with long names": lambda top: nest(top, 1_000, LONG),
    "closed": _closed,
    "odd names": _odd_names,
    "no files": _no_files,
    "links": _links,
    "read only": _read_only,
}
