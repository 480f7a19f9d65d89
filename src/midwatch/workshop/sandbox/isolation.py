"""How this machine isolates jobs: what a test found, what the person wants, and what every job may use.

Toolchains are lent by name: each is asked where it is, because shims and links hide it.
"""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import midwatch
from midwatch.errors import Broken, Misuse
from midwatch.ports.redaction import NewScrub
from midwatch.settings.secret_places import refuse_secret_place, why_secret
from midwatch.terms.trust import Isolation
from midwatch.workshop.rooms.logs import Untouched
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.walls.probe import IsolationFound, probe
from midwatch.workshop.sandbox.walls.spec import SandboxLimits

STRENGTH = (Isolation.NONE, Isolation.LANDLOCK, Isolation.SEATBELT, Isolation.BUBBLEWRAP)
_PATIENCE: Final = 20.0
_ASKED: Final = {  # what prints where a toolchain is
    "node": ("node", "-p", "process.execPath"),
    "python": ("python3", "-c", "import sys; print(sys.base_prefix)"),
    "go": ("go", "env", "GOROOT"),
    "cargo": ("rustc", "--print", "sysroot"),
}
_FILES: Final = {"uv": ("uv", "uvx")}
_NAMES: Final = (*_ASKED, *_FILES)
_WAY_OUT: Final = (
    "Change the setting: midwatch settings propose sandbox.toolchains=FOLDER,FOLDER --apply, "
    "or MIDWATCH_SANDBOX__TOOLCHAINS where it is set there."
)
_SYSTEM: Final = Path("/usr")
"""Every job has it already."""


@functools.cache
def found() -> IsolationFound:
    """Test once which walls can be built here; a kernel does not change while we run."""
    return probe()


def stand(wanted: str) -> IsolationFound:
    """Choose the strongest walls, or weaker ones if the person wants them; stronger ones than exist are refused."""
    here = found()
    if wanted == "strongest":
        return here
    chosen = Isolation(wanted)
    if STRENGTH.index(chosen) > STRENGTH.index(here.isolation):
        raise Broken(f"The settings ask for {chosen.value}, but {here.why[:1].lower()}{here.why[1:]}", hint=here.fix)
    if chosen is here.isolation:
        return here
    return IsolationFound(chosen, f"The settings ask for {chosen.value}.", "Set sandbox.isolation to strongest.")


def enclosure(  # noqa: PLR0913 - each is one plain fact about the walls
    isolation: Isolation,
    home: Path,
    toolchains: tuple[str, ...],
    *,
    limits: SandboxLimits,
    copies_setup: bool = False,
    scrub: NewScrub = Untouched,
    kept: tuple[Path, ...] = (),
) -> Enclosure:
    """Equip the walls: our own Python, because the housekeeper runs in it, and the folders the person named.

    `kept` are files in which the settings say that a secret is; no folder that holds one is lent. A folder may come to
    hold one at any time, so what cannot be lent is left out and said, and keeps no server from starting.
    """
    named, left_out = lendable(home, toolchains, kept)
    return Enclosure(
        isolation=isolation,
        toolchains=(*_own_ground(), *named),
        left_out=(*_secrets_in_own_ground(home, kept), *left_out),
        path=_path(named),
        limits=limits,
        copies_setup=copies_setup,
        scrub=scrub,
    )


def lendable(
    home: Path, toolchains: tuple[str, ...], kept: tuple[Path, ...]
) -> tuple[tuple[Path, ...], tuple[Misuse, ...]]:
    """Return what of the toolchains every job may read, and of the rest why no job may."""
    lent, left_out = list[Path](), list[Misuse]()
    for name in sorted(toolchains, key=lambda name: name not in _NAMES):
        try:
            lent += _lent_by_name(name, home, kept) if name in _NAMES else (_folder(name, home, kept),)
        except Misuse as problem:
            left_out.append(Misuse(problem.message, hint=_WAY_OUT))
    return tuple(lent), tuple(left_out)


def _folder(name: str, home: Path, kept: tuple[Path, ...]) -> Path:
    """Return a folder that jobs may read, as the person named it."""
    refuse_secret_place(Path(name), "The toolchain", home=home, kept=kept)
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise Misuse(f"The toolchain {folder} is not a folder.")
    return folder


def _own_ground() -> tuple[Path, ...]:
    places = (Path(sys.prefix), Path(sys.base_prefix), Path(midwatch.__file__).parents[1])
    kept: list[Path] = []
    for place in places:
        known = any(place.is_relative_to(other) for other in (Path("/usr"), *kept))
        if not known:
            kept.append(place)
    return tuple(kept)


def _secrets_in_own_ground(home: Path, kept: tuple[Path, ...]) -> Iterator[Misuse]:
    """Say where jobs may read a secret beside our own programs; these are lent all the same: no job runs without."""
    for place in _own_ground():
        if why := why_secret(place, home=home, kept=kept):
            yield Misuse(
                f"Every job reads the folder of Midwatch's own programs, {place}, but {why}.",
                hint="Move the secret, or install Midwatch in a folder of its own.",
            )


def _path(toolchains: tuple[Path, ...]) -> str:
    """Search the named folders first, then where the person's own shell would search."""
    folders = [folder for place in toolchains for folder in (place / "bin", place) if folder.is_dir()]
    folders += [place.parent for place in toolchains if place.is_file()]
    return os.pathsep.join([*map(str, folders), *os.get_exec_path()])


def _lent_by_name(name: str, home: Path, kept: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return what to lend: the toolchain's own folder or files; nothing where it belongs to the system or is absent.

    Refused where it holds a secret, as where a program of that name says that it is at home in one.
    """
    places = _lent_from(name, os.pathsep.join(os.get_exec_path()))
    for place in places:
        refuse_secret_place(place, f"The toolchain {name} in", home=home, kept=kept)
    return places


@functools.cache
def _lent_from(name: str, path: str) -> tuple[Path, ...]:
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
            [program, *words[1:]], capture_output=True, text=True, check=False, timeout=_PATIENCE, cwd="/"
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    place = Path(said.stdout.strip().splitlines()[-1]) if said.stdout.strip() else None
    return place if place is not None and place.is_absolute() and place.exists() else None
