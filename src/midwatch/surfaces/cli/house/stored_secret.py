"""A secret in a file of the data folder that only its owner can read, replaced as a whole or not at all."""

import os
from pathlib import Path

from midwatch.errors import Misuse

FOLDER = "secrets"


class StoredSecret:
    """One credential that is being stored in the data folder; the old one stays until it settles."""

    def __init__(self, home: Path, name: str) -> None:
        self._folder = home / FOLDER
        self.path = self._folder / name
        self.fresh = self._folder / f".{name}.new"
        self._before = self._folder / f".{name}.before"

    def write(self, value: str) -> None:
        """Write it beside its place."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._folder.is_symlink():
            raise Misuse(f"{self._folder} is a link.", hint="Secrets need a real folder; remove the link.")
        self._folder.chmod(0o700)  # it may have been created manually
        self.fresh.unlink(missing_ok=True)
        descriptor = os.open(self.fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w") as out:
            out.write(value)
            out.flush()
            os.fsync(out.fileno())

    def settle(self) -> None:
        """Move it into its place, and keep the old one until it settles."""
        self._before.unlink(missing_ok=True)
        if self.path.exists():
            os.link(self.path, self._before)
        self.fresh.replace(self.path)

    def done(self) -> None:
        """Delete the old one."""
        self._before.unlink(missing_ok=True)

    def undo(self) -> None:
        """Leave everything as it was."""
        if self.fresh.exists():
            self.fresh.unlink()
        elif self._before.exists():
            self._before.replace(self.path)
        else:
            self.path.unlink(missing_ok=True)

    def remove(self) -> bool:
        for leftover in (self.fresh, self._before):
            leftover.unlink(missing_ok=True)
        there = self.path.exists()
        self.path.unlink(missing_ok=True)
        return there
