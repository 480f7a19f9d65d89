"""What the crew needs: a leash to run a process on, and to know its assignment."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Protocol


class Ended(Protocol):
    """How a process ended."""

    @property
    def exit_code(self) -> int: ...  # noqa: D102
    @property
    def stopped(self) -> bool: ...  # noqa: D102
    @property
    def tail(self) -> str: ...  # noqa: D102


class Leash(Protocol):
    """Runs a process that cannot outlive us."""

    async def __call__(  # noqa: D102, PLR0913 - each is one plain fact about one process
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        log: Path,
        wall: timedelta,
        idle: timedelta,
        stop: asyncio.Event | None = None,
        on_line: Callable[[str], Awaitable[None]] | None = None,
    ) -> Ended: ...


class Task(Protocol):
    """What an agent is given."""

    @property
    def checkout(self) -> Path: ...  # noqa: D102
    @property
    def log(self) -> Path: ...  # noqa: D102
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
    def wall(self) -> timedelta: ...  # noqa: D102
    @property
    def idle(self) -> timedelta: ...  # noqa: D102
    @property
    def stop(self) -> asyncio.Event: ...  # noqa: D102
