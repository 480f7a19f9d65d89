"""Making the data folder ready, before anything is opened in it."""

import shutil
from pathlib import Path

from midwatch.errors import NO_ROOM, Broken, Exhausted, Misuse

ROOM = 2 * 2**20
"""Less than this free is as good as nothing: the first migration alone needs it."""


def prepare_folder(home: Path) -> None:
    """Make the data folder, for its owner only, and see that there is room to write."""
    probe = home / ".probe"
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe.write_bytes(b"x" * ROOM)
        probe.unlink()
    except OSError as error:
        said = f"The data folder {home} cannot be written: {error.strerror or error}."
        if error.errno not in NO_ROOM:
            raise Misuse(said, hint="Name a folder of yours with MIDWATCH_HOME.") from error
        probe.unlink(missing_ok=True)
        raise Exhausted(said, hint="Free some disk space or name another folder with MIDWATCH_HOME.") from error
    if shutil.which("git") is None:
        raise Broken("git is not installed.", hint="Install it, for example: apt install git")
