"""Large things on disk by the hash of their content: written whole or not at all, checked when read."""

import asyncio
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from midwatch.errors import Corrupt, Unknown


class FolderBlobs:
    """Blobs under one folder, two levels deep."""

    def __init__(self, folder: Path, *, scrub: Callable[[bytes], bytes] | None = None) -> None:
        self._folder = folder
        self._scrub = scrub

    def path(self, name: str) -> Path:
        return self._folder / name[:2] / name

    async def keep(self, content: bytes) -> str:
        """Store without the secrets in it, and return the name; storing the same twice changes nothing."""
        return await asyncio.to_thread(self._keep, content)

    def _keep(self, content: bytes) -> str:
        if self._scrub is not None:
            content = self._scrub(content)
        name = hashlib.sha256(content).hexdigest()
        path = self.path(name)
        if path.exists():
            return name
        path.parent.mkdir(parents=True, exist_ok=True)
        # Each call writes its own draft: two threads may store the same content at once.
        number, draft = tempfile.mkstemp(prefix=f"{name}.", suffix=".part", dir=path.parent)
        try:
            with open(number, "wb") as file:  # noqa: PTH123  a descriptor, not a path
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(draft).replace(path)
        finally:
            Path(draft).unlink(missing_ok=True)
        return name

    async def fetch(self, name: str) -> bytes:
        try:
            content = await asyncio.to_thread(self.path(name).read_bytes)
        except FileNotFoundError as missing:
            raise Unknown(f"There is no blob {name}.", hint="It may have been archived.") from missing
        if hashlib.sha256(content).hexdigest() != name:
            raise Corrupt(f"Blob {name} was changed on disk.", hint="Restore it from a backup.")
        return content
