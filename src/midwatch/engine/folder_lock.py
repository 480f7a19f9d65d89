"""One server per data folder: a lock that ends with its process, however that dies."""

import fcntl
import os
from pathlib import Path
from typing import IO

from midwatch.errors import Refused


class FolderLock:
    """An exclusive flock on `server.lock`."""

    def __init__(self, home: Path) -> None:
        self._path = home / "server.lock"
        self._file: IO[str] | None = None

    def take(self) -> None:
        """Take the lock, or report which process has it."""
        file = self._path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as held:
            file.seek(0)
            owner = file.read().strip() or "another process"
            file.close()
            raise Refused(
                f"Midwatch is already running on {self._path.parent} (process {owner}).",
                hint="Use it as it is, or stop it first: midwatch down",
            ) from held
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file

    def release(self) -> None:
        """Let go."""
        if self._file is not None:
            self._file.close()
            self._file = None
