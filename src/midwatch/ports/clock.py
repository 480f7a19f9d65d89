"""Time and identity: no code reads a clock or makes an id in any other way."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The time of this server; a demo night runs faster than real time."""

    def now(self) -> datetime:
        """Return the aware UTC time."""
        ...

    def real_seconds(self, house_seconds: float) -> float:
        """Convert a duration of this clock into real seconds."""
        ...


class Ids(Protocol):
    """Makes unique ids."""

    def new(self, prefix: str) -> str:
        """Make an id such as `job_01J...`, sortable by time."""
        ...
