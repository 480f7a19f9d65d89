"""The data folder: where it is, and its preparation; imports nothing heavy, because every command starts here."""

import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from midwatch.errors import NO_ROOM, Broken, Exhausted, Misuse, Refused


def environment() -> Mapping[str, str]:
    """Give the process's environment; the only place that reads it."""
    return os.environ  # noqa: TID251 - the one reader


def data_folder(environ: Mapping[str, str] | None = None) -> Path:
    """The data folder: MIDWATCH_HOME, else the platform's place for a program's data."""
    named = (environment() if environ is None else environ).get("MIDWATCH_HOME", "")
    if named:
        return Path(named).expanduser().absolute()
    # Half of the run time of a short command, and only needed without MIDWATCH_HOME.
    from platformdirs import user_data_path  # noqa: PLC0415

    return user_data_path("midwatch", appauthor=False)


OTHERS = 0o077
"""The permissions of everybody but the owner."""
OF_A_DEMO = ".midwatch-demo"
"""The file that marks the data folder of a demo, which may be removed; the repository it shows is in it."""
OURS = ("midwatch.db", "midwatch.toml", "server.lock", "server.log", OF_A_DEMO)
"""One of these is in every data folder that was used."""
MOST_DEEP = 12
"""Levels of folders that are looked at when a folder is closed to others."""
ROOM = 2 * 2**20
"""Required free space; the first migration alone needs it."""


def keep_files_private() -> None:
    """Make every file that this process creates readable by its owner only, whatever the person's umask."""
    os.umask(OTHERS)


def close_to_others(home: Path) -> None:
    """Make the data folder if it is missing, and take every permission of others from it and from what is in it.

    What another user put there is refused: settings name programs, and a link leads writing elsewhere.
    """
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    _refuse_strangers(home, [home])
    inside, before = list(home.iterdir()), home.stat().st_mode
    if before & OTHERS:
        if inside and not any((home / name).exists() for name in OURS):
            raise Refused(
                f"The data folder {home} holds other files, and others may open it.",
                hint="Name an empty or new folder with MIDWATCH_HOME.",
            )
        home.chmod(0o700)
        inside = _below(home)  # only now, because it may take long: later, nobody else gets in
    try:
        _refuse_strangers(home, inside)
    except Refused:
        home.chmod(stat.S_IMODE(before))  # the next start must look at all of it again
        raise
    for path in inside:
        mode = path.lstat().st_mode
        if mode & OTHERS and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & ~OTHERS)


def _below(home: Path) -> list[Path]:
    """List what is in the folder, as deep as Midwatch itself writes; checkouts of agents may be deeper."""
    found, level = [], [home]
    for _ in range(MOST_DEEP):
        found += (level := [path for folder in level for path in _inside(folder)])
    return found


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else []
    except OSError:  # it may have vanished, or be closed to us as well
        return []


def _refuse_strangers(home: Path, paths: Iterable[Path]) -> None:
    """Refuse what belongs to another user; root may be given a folder of one other user, as in a container."""
    ours = {0, os.geteuid()} if os.geteuid() else {0, home.stat().st_uid}
    for path in paths:
        if path.lstat().st_uid not in ours:
            called = f"{path}, in the data folder," if path != home else f"The data folder {home}"
            raise Refused(
                f"{called} belongs to another user.",
                hint="Remove what you did not put there, or name another folder with MIDWATCH_HOME.",
            )


def prepare_folder(home: Path) -> None:
    """Make the data folder, for its owner only, and check that it is writable and has free space."""
    probe = home / ".probe"
    try:
        close_to_others(home)
        probe.write_bytes(b"x" * ROOM)
        probe.unlink()
    except OSError as error:
        said = f"The data folder {home} cannot be written: {error.strerror or error}."
        if error.errno not in NO_ROOM:
            raise Misuse(said, hint="Name a folder that you can write with MIDWATCH_HOME.") from error
        probe.unlink(missing_ok=True)
        raise Exhausted(said, hint="Free some disk space or name another folder with MIDWATCH_HOME.") from error
    if shutil.which("git") is None:
        raise Broken("git is not installed.", hint="Install it, for example: apt install git")


def job_log(home: Path, job: str, name: str = "agent") -> Path:
    """The path of one of a job's logs."""
    return home / "jobs" / job / f"{name}.log"
