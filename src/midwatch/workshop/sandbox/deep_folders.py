"""Walks folders that an agent shaped: of any depth, with any names, while its processes may still change them.

There is no recursion, and no path that the kernel could find too long: each step opens one name in the folder before
it, or `..`. A step up is checked, because a folder that was moved away meanwhile has another one above it.
"""

import contextlib
import logging
import os
import shutil
import stat
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from midwatch.errors import Broken, MidwatchError, Unavailable

log = logging.getLogger("midwatch.tidying")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
KEPT_OPEN = 16
"""Descriptors of the innermost folders; steps up from there need neither a check nor the right to look up `..`."""
MOST_RETRACED = 1_000_000
"""Steps to find the way again after folders were moved away, in one walk."""
PASSES = 5
"""How often a removal begins again where something appeared behind it."""
_SHOWN = 120
_LOOK_YOURSELF = "Look at what is in that folder, and who may read it."


class _Step(NamedTuple):
    name: str
    identity: tuple[int, int]


class Descent:
    """One place below a folder: a step goes down by a name, or up; links are never followed."""

    def __init__(self, root: Path, *, opening: bool = False, strict: bool = False) -> None:
        """With `opening`, folders of ours that we may not read or write are opened up: only for what is to go.

        With `strict`, what cannot be read, or is moved away meanwhile, raises Broken instead of being left out.
        """
        self._opening = opening
        self._strict = strict
        above = os.open(root.parent, _FOLDER & ~os.O_NOFOLLOW)
        try:
            self._root = _opened(above, root.name, opening=opening)
        finally:
            os.close(above)
        self._trail: list[_Step] = []
        self._open = deque([os.dup(self._root)])
        self._retraced = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        for descriptor in (self._root, *self._open):
            os.close(descriptor)

    @property
    def here(self) -> int:
        """The descriptor of the folder we are in."""
        return self._open[-1]

    @property
    def depth(self) -> int:
        return len(self._trail)

    @property
    def name(self) -> str:
        """The name of the folder we are in."""
        return self._trail[-1].name

    def path(self) -> str:
        """The path from the root; it may be longer than the kernel takes."""
        return "/".join(step.name for step in self._trail)

    def entries(self) -> Iterator[tuple[str, os.stat_result]]:
        """List what is in the folder, each with its own facts, but not what vanishes meanwhile or cannot be read."""
        try:
            with os.scandir(self.here) as found:
                for entry in found:
                    try:
                        facts = entry.stat(follow_symlinks=False)
                    except OSError as error:
                        self._missed(entry.name, error)
                        continue
                    yield entry.name, facts
        except OSError as error:
            self._missed("", error)

    def _missed(self, name: str, error: OSError) -> None:
        if self._strict:
            path = _placed(self, name) or "The folder"
            raise Broken(f"{path} cannot be read ({error.strerror}).", hint=_LOOK_YOURSELF) from None

    def down(self, name: str) -> bool:
        """Enter a folder; return whether that was possible."""
        try:
            inner = _opened(self.here, name, opening=self._opening)
        except OSError as error:
            self._missed(name, error)
            return False
        self._trail.append(_Step(name, _identity(inner)))
        self._open.append(inner)
        if len(self._open) > KEPT_OPEN:
            os.close(self._open.popleft())
        return True

    def up(self) -> None:
        """Leave the folder for the one above it, or for the last one on our way that is still in its place."""
        left = self._open.pop()
        self._trail.pop()
        try:
            if not self._open:
                self._open.append(self._above(left))
        finally:
            os.close(left)

    def _above(self, left: int) -> int:
        expected = self._trail[-1].identity if self._trail else _identity(self._root)
        try:
            above = os.open("..", _FOLDER, dir_fd=left)
        except OSError:
            return self._retrace()
        if _identity(above) == expected:
            return above
        os.close(above)
        return self._retrace()

    def _retrace(self) -> int:
        """Go the way again from the root, as far as it is still the same."""
        self._retraced += len(self._trail) + 1
        if self._retraced > MOST_RETRACED:
            raise Unavailable("Folders are moved about while Midwatch looks at them.", hint="Stop what moves them.")
        here = os.dup(self._root)
        for depth, step in enumerate(self._trail):
            inner = -1
            with contextlib.suppress(OSError):
                inner = _opened(here, step.name, opening=self._opening)
            if inner < 0 or _identity(inner) != step.identity:
                if inner >= 0:
                    os.close(inner)
                if self._strict:
                    os.close(here)
                    raise Broken(f"{_shown(step.name)} was moved away while it was read.", hint=_LOOK_YOURSELF)
                del self._trail[depth:]
                break
            os.close(here)
            here = inner
        return here


def _identity(descriptor: int) -> tuple[int, int]:
    facts = os.fstat(descriptor)
    return facts.st_dev, facts.st_ino


def _opened(above: int, name: str, *, opening: bool) -> int:
    try:
        inner = os.open(name, _FOLDER, dir_fd=above)
    except PermissionError:
        if not opening:
            raise
        _open_up(above, name)
        inner = os.open(name, _FOLDER, dir_fd=above)
    if opening and os.fstat(inner).st_mode & stat.S_IRWXU != stat.S_IRWXU:
        with contextlib.suppress(OSError):  # it is not ours: what follows from that is reported where it matters
            os.fchmod(inner, stat.S_IRWXU)
    return inner


def _open_up(above: int, name: str) -> None:
    """Let us read a folder, and nothing that a link in its place leads to."""
    if os.chmod in os.supports_follow_symlinks:
        os.chmod(name, stat.S_IRWXU, dir_fd=above, follow_symlinks=False)
        return
    place = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=above)
    try:
        os.chmod(f"/proc/self/fd/{place}", stat.S_IRWXU)  # noqa: PTH101 - a descriptor has no other name
    finally:
        os.close(place)


class Found(NamedTuple):
    """An entry below a folder, and where we are: `at` moves on with the walk."""

    at: Descent
    name: str
    facts: os.stat_result


def everything_below(root: Path, *, strict: bool = False) -> Iterator[Found]:
    """Give every entry below a folder, each folder before what is in it; nothing where there is no folder.

    What cannot be read is left out. Where that might lose something, `strict` raises Broken instead.
    """
    try:
        descent = Descent(root, strict=strict)
    except OSError as error:
        if strict:
            raise Broken(f"{_shown(str(root))} cannot be read ({error.strerror}).", hint=_LOOK_YOURSELF) from None
        return
    with descent as at:
        waiting: list[list[str]] = []
        while True:
            inner: list[str] = []
            for name, facts in at.entries():
                yield Found(at, name, facts)
                if stat.S_ISDIR(facts.st_mode):
                    inner.append(name)
            waiting.append(inner)
            if not _moved_on(at, waiting):
                return


def _moved_on(at: Descent, waiting: list[list[str]]) -> bool:
    """Go to the next folder that waits; return whether there was one."""
    while True:
        while waiting[-1]:
            if at.down(waiting[-1].pop()):
                return True
        if at.depth == 0:
            return False
        at.up()
        del waiting[at.depth + 1 :]


def _placed(at: Descent, name: str) -> str:
    """Name an entry where we are, in few letters."""
    return _shown(f"{at.path()}/{name}".strip("/") if at.depth < KEPT_OPEN else f"... {name}")


class _Left:
    """What a removal could not remove."""

    def __init__(self) -> None:
        self.first = ""

    def add(self, at: Descent, name: str, error: OSError) -> None:
        self.first = self.first or f"{_placed(at, name)} ({error.strerror})"


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, in any shape that an agent gave it; where something stays, say what.

    The rest is removed all the same. Whoever calls it sees to it that no agent is at work there any more.
    """
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    if mounted := _mounted_below(folder):
        raise Broken(f"{mounted} is a mount, so {folder} cannot be removed.", hint=f"Unmount it: umount {mounted}")
    left = _Left()
    for _ in range(PASSES):  # something may appear behind us
        left = _Left()
        try:
            with Descent(folder, opening=True) as at:
                _empty(at, left)
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError as error:
            left.first = left.first or f"{folder} ({error.strerror})"
        else:
            return
    raise Broken(
        f"{folder} cannot be removed completely: {left.first} stays.",
        hint="Look at who owns it, and remove it by hand.",
    )


def remove_if_possible(folder: Path) -> None:
    """Remove a folder after use; what stays is no reason to lose what was done in it, and upkeep finds it again."""
    try:
        remove(folder)
    except (MidwatchError, OSError) as error:
        log.warning("%s", error)


def _empty(at: Descent, left: _Left) -> None:
    waiting = [_folders_left(at, left)]
    while True:
        while waiting[-1]:
            name = waiting[-1].pop()
            if at.down(name):
                waiting.append(_folders_left(at, left))
            else:
                _unlink(at, name, left, folder=True)
        if at.depth == 0:
            return
        name, depth = at.name, at.depth
        at.up()
        del waiting[at.depth + 1 :]
        if at.depth == depth - 1:
            _unlink(at, name, left, folder=True)


def _folders_left(at: Descent, left: _Left) -> list[str]:
    """Remove all entries but folders, and list those."""
    folders: list[str] = []
    for name, facts in at.entries():
        if stat.S_ISDIR(facts.st_mode):
            folders.append(name)
        else:
            _unlink(at, name, left)
    return folders


def _unlink(at: Descent, name: str, left: _Left, *, folder: bool = False) -> None:
    try:
        (os.rmdir if folder else os.unlink)(name, dir_fd=at.here)
    except FileNotFoundError:
        return
    except OSError as error:
        left.add(at, name, error)


def _mounted_below(folder: Path) -> str:
    """Name a mount at or below a folder: what is in it belongs to another file system."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return ""
    inside = os.fsencode(folder.resolve())
    for line in lines:
        place = line.split(b" ")[4].replace(b"\\040", b" ").replace(b"\\134", b"\\")
        if place == inside or place.startswith(inside + b"/"):
            return _shown(os.fsdecode(place))
    return ""


def _shown(path: str) -> str:
    """Give a name in letters that can be written down, and not more than a few."""
    text = path.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return text if len(text) <= _SHOWN else f"...{text[-_SHOWN:]}"


def copy(made: Path, place: Path) -> None:
    """Copy a folder with its links, and its files with their modes, to a new place; no pipes, sockets and devices.

    What cannot be read raises Broken: a copy that lacks something must not look like a whole one.
    """
    place.mkdir()
    with Descent(place) as to:
        for at, name, facts in everything_below(made, strict=True):
            _follow(to, at)
            if stat.S_ISDIR(facts.st_mode):
                os.mkdir(name, 0o700, dir_fd=to.here)
            elif stat.S_ISLNK(facts.st_mode):
                os.symlink(os.readlink(name, dir_fd=at.here), name, dir_fd=to.here)
            elif stat.S_ISREG(facts.st_mode):
                _copy_file(at.here, name, to.here, facts)


def _follow(to: Descent, at: Descent) -> None:
    """Go where the walk is: it only ever goes up, and then down by one."""
    while to.depth > at.depth or (to.depth == at.depth and to.depth and to.name != at.name):
        to.up()
    if to.depth < at.depth and not to.down(at.name):
        raise Broken(f"The copy of {_shown(at.name)} is gone.", hint="Try it again.")


def _copy_file(above: int, name: str, to: int, facts: os.stat_result) -> None:
    mode = stat.S_IMODE(facts.st_mode)
    source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=above)
    with os.fdopen(source, "rb") as content:
        target = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=to)
        with os.fdopen(target, "wb") as copied:
            shutil.copyfileobj(content, copied)
            copied.flush()  # what is written later would change the time again
            os.fchmod(target, mode)
            os.utime(target, ns=(facts.st_atime_ns, facts.st_mtime_ns))
