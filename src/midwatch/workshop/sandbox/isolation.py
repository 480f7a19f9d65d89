"""How this machine isolates jobs: what a test found, what the person wants, and what every job may use."""

import functools
import os
import sys
from pathlib import Path

import midwatch
from midwatch.errors import Broken, Misuse
from midwatch.ports.redaction import NewScrub
from midwatch.terms.trust import Isolation
from midwatch.workshop.rooms.logs import Untouched
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.toolchains import NAMES, lent_by_name
from midwatch.workshop.sandbox.walls.probe import IsolationFound, probe
from midwatch.workshop.sandbox.walls.spec import SandboxLimits

STRENGTH = (Isolation.NONE, Isolation.LANDLOCK, Isolation.SEATBELT, Isolation.BUBBLEWRAP)


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


def enclosure(
    isolation: Isolation,
    home: Path,
    toolchains: tuple[str, ...],
    *,
    limits: SandboxLimits,
    copies_setup: bool = False,
    scrub: NewScrub = Untouched,
) -> Enclosure:
    """Equip the walls: our own Python, because the housekeeper runs in it, and the folders the person named."""
    folders = tuple(Path(name).expanduser() for name in toolchains if name not in NAMES)
    for folder in folders:
        if not folder.is_dir():
            raise Misuse(
                f"The toolchain {folder} is not a folder.", hint="Correct it: midwatch settings sandbox.toolchains"
            )
        if home.resolve().is_relative_to(folder.resolve()):
            raise Misuse(f"The toolchain {folder} holds Midwatch's own data.", hint="Name a folder inside it.")
    named = (*(place for name in toolchains if name in NAMES for place in lent_by_name(name)), *folders)
    return Enclosure(
        isolation=isolation,
        toolchains=(*_own_ground(), *named),
        path=_path(named),
        limits=limits,
        copies_setup=copies_setup,
        scrub=scrub,
    )


def _own_ground() -> tuple[Path, ...]:
    places = (Path(sys.prefix), Path(sys.base_prefix), Path(midwatch.__file__).parents[1])
    kept: list[Path] = []
    for place in places:
        known = any(place.is_relative_to(other) for other in (Path("/usr"), *kept))
        if not known:
            kept.append(place)
    return tuple(kept)


def _path(toolchains: tuple[Path, ...]) -> str:
    """Search the named folders first, then where the person's own shell would search."""
    folders = [folder for place in toolchains for folder in (place / "bin", place) if folder.is_dir()]
    folders += [place.parent for place in toolchains if place.is_file()]
    return os.pathsep.join([*map(str, folders), *os.get_exec_path()])
