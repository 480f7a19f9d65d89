"""What the crew needs: a room to run a program in, and to know its assignment."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Protocol


class Left(Protocol):
    """How a program left its room."""

    @property
    def exit_code(self) -> int: ...  # noqa: D102
    @property
    def stopped(self) -> bool: ...  # noqa: D102
    @property
    def sentence(self) -> str: ...  # noqa: D102
    @property
    def tail(self) -> str: ...  # noqa: D102


class Room(Protocol):
    """A checkout and a home behind walls; whatever runs there is held by a process that outlives us."""

    @property
    def inside(self) -> Path: ...  # noqa: D102
    @property
    def log(self) -> Path: ...  # noqa: D102
    def put(self, name: str, content: str) -> Path: ...  # noqa: D102
    def take(self, name: str) -> bytes: ...  # noqa: D102
    async def run(  # noqa: D102
        self, argv: tuple[str, ...], *, environment: Mapping[str, str] | None = None
    ) -> Left: ...


class Task(Protocol):
    """What an agent is given."""

    @property
    def room(self) -> Room: ...  # noqa: D102
    @property
    def checks(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def paths(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def avoid(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def most_files(self) -> int: ...  # noqa: D102
    @property
    def most_lines(self) -> int: ...  # noqa: D102
    @property
    def idle(self) -> timedelta: ...  # noqa: D102
