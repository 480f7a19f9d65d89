"""Finds the programs agents are made of, and tells which version is there."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from midwatch.errors import Misuse

ASK_SECONDS = 20.0
SHARED = (Path("/usr"), Path("/bin"), Path("/sbin"), Path("/lib"))
"""What every room sees anyway."""
NUMBER = re.compile(r"\d+\.\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Program:
    """An executable that was found."""

    path: Path
    """The native file itself: a kill must reach the agent, not a launcher in front of it."""

    @property
    def lends(self) -> Path | None:
        """Name the folder a room must be lent for it to run there."""
        folder = self.path.parent
        return None if any(folder.is_relative_to(place) for place in SHARED) else folder


def find(name: str, natives: tuple[str, ...] = ()) -> Program | None:
    """Find a program by its name or path, past the launcher npm puts in front of the native file."""
    which = shutil.which(os.path.expanduser(name))  # noqa: PTH111 - a bare name stays a bare name
    if which is None:
        return None
    path = Path(which).resolve()
    behind = next((native for native in _behind(path, natives) if version_of(native)), path)
    return Program(_safe(behind))


def _behind(launcher: Path, natives: tuple[str, ...]) -> Iterator[Path]:
    """Give the native files of a package; it may bring several, of which not all start on this processor."""
    for folder in (folder for folder in launcher.parents if folder.name == "node_modules"):
        for pattern in natives:
            found = sorted([*folder.glob(pattern), *folder.glob(f"*/node_modules/{pattern}")])
            yield from [launcher] if launcher in found else found


def version_of(program: Path) -> str:
    """Ask a program which version it is; one that does not say has none."""
    try:
        facts = program.stat()
    except OSError:
        return ""
    return _version(program, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=32)
def _version(program: Path, _changed: int, _size: int) -> str:
    """Asked once for as long as the file stays the same: pages and lists ask often, and some programs start slowly."""
    found = NUMBER.search(_asked(program, "--version"))
    return found.group() if found else ""


def judged(version: str, tested: tuple[str, ...]) -> str:
    """Say in a few words what a version is worth: whether the whole matrix of tests was run with it."""
    if not tested:
        return "no version of it was tested"
    if not version:
        return f"not tested: it does not say its version, tested {', '.join(tested)}"
    return "tested" if version in tested else f"not tested: seen {version}, tested {', '.join(tested)}"


def help_of(program: Path) -> str:
    """Ask a program what it can do."""
    return _asked(program, "--help")


def _asked(program: Path, word: str) -> str:
    try:
        done = subprocess.run(
            [program, word],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=ASK_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _safe(path: Path) -> Path:
    """A program's folder is lent to every job, so a home folder, or one above it, will not do."""
    if Path.home().resolve().is_relative_to(path.parent):
        raise Misuse(
            f"{path} is in a folder that no job may read.",
            hint="Move the program into another folder, and name it there.",
        )
    return path
