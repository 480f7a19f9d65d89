"""The computer this server runs on."""

from typing import Protocol

from midwatch.terms.preflight import SleepSeen
from midwatch.terms.trust import Isolation


class Machine(Protocol):
    """What the gate must know about the computer."""

    def free_memory(self) -> int:
        """Bytes."""
        ...

    def free_disk(self) -> int:
        """Free bytes on the data folder's disk."""
        ...

    def isolation(self) -> Isolation:
        """How strongly jobs can be isolated here."""
        ...


class ExaminedMachine(Machine, Protocol):
    """What a preflight must also know."""

    def walls(self) -> tuple[str, str]:
        """Why isolation is no stronger, and how to strengthen it."""
        ...

    def sleep(self) -> SleepSeen:
        """Whether it will sleep tonight."""
        ...
