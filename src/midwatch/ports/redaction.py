"""Redaction of what programs print."""

from collections.abc import Callable
from typing import Protocol


class Scrub(Protocol):
    """Removes secrets from bytes that come in chunks."""

    def feed(self, chunk: bytes) -> bytes:
        """Take the next bytes, and return those that are safe."""
        ...

    def end(self) -> bytes:
        """Return the remaining bytes."""
        ...


NewScrub = Callable[[], Scrub]
