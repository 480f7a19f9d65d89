"""Reads and writes where an agent may have set a trap: no links, no pipes, and bounded sizes."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from midwatch.errors import Broken, Misuse, Refused
from midwatch.workshop.sandbox.deep_folders import everything_below

MOST_DEEP = 256
"""Levels of folders; a name that git can read has far fewer."""
LOOK_THERE = "Look at what the agent did there."

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe in place of a file would block us for ever.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read(root: Path, name: str, *, most: int) -> bytes | None:
    """Read a plain file below a folder of Midwatch, following no link on the way; None where there is no such file."""
    *folders, last = [piece for piece in name.split("/") if piece not in ("", ".")]
    if ".." in (*folders, last):
        return None
    place = -1
    try:
        place = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for folder in folders:
            inner = os.open(folder, _FOLDER, dir_fd=place)
            os.close(place)
            place = inner
        return _content(os.open(last, _FILE, dir_fd=place), most)
    except OSError:
        return None
    finally:
        if place >= 0:
            os.close(place)


def write(root: Path, name: str, content: bytes) -> None:
    """Write a file below a folder of Midwatch; an entry in its way is removed, and no link is followed."""
    *folders, last = [piece for piece in name.split("/") if piece not in ("", ".")]
    if ".." in (*folders, last):
        raise Misuse(f"{name} leads out of the folder it belongs in.", hint="Name it from that folder.")
    place = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            inner = _folder_in(place, folder)
            os.close(place)
            place = inner
        with contextlib.suppress(FileNotFoundError):
            os.unlink(last, dir_fd=place)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(last, flags, 0o600, dir_fd=place), "wb") as file:
            file.write(content)
    except IsADirectoryError:
        raise Refused(f"There is a folder where the file {name} belongs.", hint=LOOK_THERE) from None
    finally:
        os.close(place)


def standing(root: Path, name: str) -> os.stat_result | None:
    """Return the status of an entry below a folder of Midwatch, a link as a link; None where there is nothing."""
    with _inside(root, name) as (place, last):
        if place is not None:
            with contextlib.suppress(OSError):
                return os.stat(last, dir_fd=place, follow_symlinks=False)
    return None


def take_away(root: Path, name: str, to: Path) -> bool:
    """Move an entry below a folder of Midwatch to a place out of reach; return whether it is there now.

    Nothing is opened, so that it does not matter what it is: a link, a pipe and a folder are moved as such.
    """
    with _inside(root, name) as (place, last):
        if place is not None:
            with contextlib.suppress(OSError):
                os.rename(last, to, src_dir_fd=place)
                return True
    return False


@contextlib.contextmanager
def _inside(root: Path, name: str) -> Iterator[tuple[int | None, str]]:
    """Open the folder that holds a name, following no link on the way; None where there is no such folder."""
    *folders, last = [piece for piece in name.split("/") if piece not in ("", ".")]
    place = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER, dir_fd=place)
            os.close(place)
            place = inner
        there: int | None = place
    except OSError:
        there = None
    try:
        yield there, last
    finally:
        os.close(place)


def _folder_in(place: int, name: str) -> int:
    """Open a folder, and make it if needed; a link or a file under that name is not accepted."""
    for _ in range(2):
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=place)
        try:
            return os.open(name, _FOLDER, dir_fd=place)
        except NotADirectoryError:  # also raised for a link that is not followed
            os.unlink(name, dir_fd=place)
    return os.open(name, _FOLDER, dir_fd=place)


def _content(descriptor: int, most: int) -> bytes | None:
    # Not `os.fdopen` on an unknown entry: on a folder it raises, and leaves the descriptor open.
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > most:
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)


def text(root: Path, name: str, *, most: int = 4096) -> str:
    """Read a small text file safely; empty where there is none."""
    return (read(root, name, most=most) or b"").decode(errors="replace").strip()


def whole(root: Path, name: str, *, most: int) -> bytes:
    """Read a plain file safely; empty only where nothing has that name, else what cannot be read raises Broken."""
    content = read(root, name, most=most)
    if content is None and not _missing(root, name):
        raise Broken(f"{name} cannot be read.", hint=LOOK_THERE)
    return content or b""


def whole_text(root: Path, name: str, *, most: int = 4096) -> str:
    """Read a small text file safely; like `whole`, it raises Broken for what cannot be read."""
    return whole(root, name, most=most).decode(errors="replace").strip()


def _missing(root: Path, name: str) -> bool:
    """Whether nothing has that name, for sure: a link in its place, or a folder we may not enter, is something."""
    for piece in name.split("/"):
        root = root / piece
        try:
            facts = root.lstat()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        if stat.S_ISLNK(facts.st_mode):
            return False
    return False


def names_below(root: Path, folder: str, *, most: int) -> Iterator[str]:
    """List files below a folder, as paths from root, up to a number of files and folders; no link is followed.

    Nothing where there is no such folder; a link in its place, and what cannot be read in it, raises Broken.
    """
    if _missing(root, folder):
        return
    for piece in folder.split("/"):
        root = root / piece
        if root.is_symlink():
            raise Broken(f"{folder} is behind a link.", hint=LOOK_THERE)
    for count, (at, name, facts) in enumerate(everything_below(root, strict=True)):
        if count >= most:
            raise Refused(f"{root} holds more than {most} files and folders.", hint=LOOK_THERE)
        if at.depth > MOST_DEEP:
            raise Refused(f"{root} holds folders in more than {MOST_DEEP} levels.", hint=LOOK_THERE)
        if not stat.S_ISDIR(facts.st_mode):
            yield "/".join(piece for piece in (folder, at.path(), name) if piece)


def plain(file: Path, *, most: int) -> int:
    """Return a file's size if it is a plain file of at most that many bytes, else raise Refused."""
    try:
        facts = file.lstat()
    except OSError:
        raise Refused(f"{file.name} was not made.", hint="Look at the job's log.") from None
    if not stat.S_ISREG(facts.st_mode):
        raise Refused(f"{file.name} is not a plain file.", hint="Look at the job's log.")
    if facts.st_size > most:
        raise Refused(f"The work is larger than {most // 1024**2} MiB.", hint="Keep large files out of commits.")
    return facts.st_size
