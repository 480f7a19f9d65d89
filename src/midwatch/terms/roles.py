"""Roles that reality plays for us: time and identity. Everybody asks for them; nobody reads a clock by himself."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """What time it is in the house; not always what the wall says (demo nights are short)."""

    def now(self) -> datetime:
        """Tell the aware UTC time."""
        ...

    def real_seconds(self, house_seconds: float) -> float:
        """Translate a house duration into seconds somebody must really wait."""
        ...


class Ids(Protocol):
    """Gives out names that nothing else has."""

    def new(self, prefix: str) -> str:
        """Make an id such as `job_01J...`, sortable by time."""
        ...
