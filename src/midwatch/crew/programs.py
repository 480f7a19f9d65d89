"""Finds the agents' programs and their versions."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from midwatch.errors import Misuse
from midwatch.settings.secret_places import refuse_secret_place

SHARED = (Path("/usr"), Path("/bin"), Path("/sbin"), Path("/lib"))
"""Folders that every room sees anyway."""
NUMBER = re.compile(r"\d+\.\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Program:
    """An executable that was found."""

    path: Path
    """The native file itself: a kill must reach the agent, not a launcher in front of it."""

    @property
    def lends(self) -> Path | None:
        """Return the folder a room must see to run it."""
        folder = self.path.parent
        return None if any(folder.is_relative_to(place) for place in SHARED) else folder


Ask = Callable[[Program, str], str]
"""Runs a program with one word where it can do no harm, and returns what it prints."""


def find(name: str, natives: tuple[str, ...], ask: Ask) -> Program | None:
    """Find a program by its name or path; of an npm package, the native file behind the launcher."""
    named = os.path.expanduser(name)  # noqa: PTH111 - a bare name stays a bare name
    if os.sep in named and not Path(named).is_absolute():
        raise Misuse(f"{name} depends on the current folder.", hint="Name the program by its whole path.")
    which = shutil.which(named)
    if which is None:
        return None
    path = Path(which).resolve()
    behind = next((native for native in _behind(path, natives) if version_of(Program(native), ask)), path)
    return Program(_safe(behind))


def _behind(launcher: Path, natives: tuple[str, ...]) -> Iterator[Path]:
    """Return the native files of a package; not all of them may start on this processor."""
    for folder in (folder for folder in launcher.parents if folder.name == "node_modules"):
        for pattern in natives:
            nested = (f"*/node_modules/{pattern}", f"@*/*/node_modules/{pattern}")
            found = sorted({path for where in (pattern, *nested) for path in folder.glob(where)})
            yield from [launcher] if launcher in found else found


def version_of(program: Program, ask: Ask) -> str:
    """Ask a program which version it is; one that does not say has none."""
    found = NUMBER.search(ask(program, "--version"))
    return found.group() if found else ""


def judged(version: str, tested: tuple[str, ...]) -> str:
    """Say whether Midwatch's own tests, its whole test matrix, ran with a version."""
    if not tested:
        return "Midwatch's own tests ran with no version of it"
    ran = f"Midwatch's own tests ran with {', '.join(tested)}"
    if not version:
        return f"{ran}; it does not say its version"
    return "Midwatch's own tests ran with this version" if version in tested else f"{ran}, not with {version}"


def _safe(path: Path) -> Path:
    """Refuse a home folder, or one above it: a program's folder is visible to every job."""
    if Path.home().resolve().is_relative_to(path.parent):
        raise Misuse(
            f"{path} is in a folder that no job may read.",
            hint="Move the program into another folder, and name it there.",
        )
    if Program(path).lends is not None:
        refuse_secret_place(path.parent, "The program's folder")
    return path
