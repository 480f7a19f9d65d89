"""Redaction of what programs print."""

from collections.abc import Callable
from typing import Protocol


class Scrub(Protocol):
    """Takes secrets out of bytes that come in chunks."""

    def feed(self, chunk: bytes) -> bytes:
        """Take the next bytes, and give those that are safe."""
        ...

    def end(self) -> bytes:
        """Give what is left."""
        ...


NewScrub = Callable[[], Scrub]
