"""Toolchains that are lent by name: each is asked where it is, because shims and links hide it."""

import functools
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

PATIENCE: Final = 20.0
_ASKED: Final = {
    "node": ("node", "-p", "process.execPath"),
    "python": ("python3", "-c", "import sys; print(sys.base_prefix)"),
    "go": ("go", "env", "GOROOT"),
    "cargo": ("rustc", "--print", "sysroot"),
}
_FILES: Final = {"uv": ("uv", "uvx")}
NAMES: Final = (*_ASKED, *_FILES)
_SYSTEM: Final = Path("/usr")
"""Every job has it already."""


def lent_by_name(name: str) -> tuple[Path, ...]:
    """Return what to lend: the toolchain's own folder or files; nothing where it belongs to the system or is absent."""
    return _found(name, os.pathsep.join(os.get_exec_path()))


@functools.cache
def _found(name: str, path: str) -> tuple[Path, ...]:
    if name in _FILES:
        files = (shutil.which(one, path=path) for one in _FILES[name])
        return tuple(Path(file).resolve() for file in files if file and not _of_system(Path(file).resolve()))
    said = _ask(_ASKED[name], path)
    place = said.parent.parent if said and said.is_file() else said
    return () if place is None or _of_system(place) or _shared(place) else (place,)


def _of_system(place: Path) -> bool:
    return place.is_relative_to(_SYSTEM)


def _shared(place: Path) -> bool:
    """A folder such as ~/.local holds far more than one toolchain."""
    home = Path.home()
    return home.is_relative_to(place) or place in {home / ".local", home / ".config", Path("/opt")}


def _ask(words: tuple[str, ...], path: str) -> Path | None:
    program = shutil.which(words[0], path=path)
    if program is None or not Path(program).is_absolute():
        return None
    try:
        said = subprocess.run(
            [program, *words[1:]], capture_output=True, text=True, check=False, timeout=PATIENCE, cwd="/"
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    place = Path(said.stdout.strip().splitlines()[-1]) if said.stdout.strip() else None
    return place if place is not None and place.is_absolute() and place.exists() else None
