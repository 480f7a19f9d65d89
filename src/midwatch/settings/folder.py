"""The data folder: where it is, and its preparation; imports nothing heavy, because every command starts here."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from midwatch.errors import NO_ROOM, Broken, Exhausted, Misuse


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


ROOM = 2 * 2**20
"""Required free space; the first migration alone needs it."""


def prepare_folder(home: Path) -> None:
    """Make the data folder, for its owner only, and check that it is writable and has free space."""
    probe = home / ".probe"
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
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
