"""A room: the sandboxed checkout and home in which an agent's programs run."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import Final, Protocol

from midwatch.terms.agents import Claimed
from midwatch.terms.term import Term

TREE_INSIDE: Final = Path("/ws")
"""Where the checkout is inside a sandbox."""


class ProgramEnd(Term):
    """How a program in a room ended."""

    exit_code: int
    stopped: bool
    """Midwatch asked it to end; limits have their own exit codes (124 wall, 125 idle)."""
    sentence: str
    tail: str
    last_words: str = ""
    """The line that says why, from whichever of its streams has it."""
    seconds: float = 0.0


class Talk(Protocol):
    """A program in its room, with its pipes. It outlives this server, so after a restart its output is read again."""

    def lines(self) -> AsyncIterator[bytes]:
        """Yield each line of its stdout, from the first, until it has ended."""
        ...

    async def say(self, data: bytes) -> None:
        """Write to its stdin."""
        ...

    async def answered(self, question: str) -> bool:
        """Whether this question was answered before a restart (then it must not be answered again)."""
        ...

    async def answer(self, question: str, data: bytes) -> None:
        """Write the answer to a question to its stdin, and record that it was given."""
        ...

    async def stop(self) -> None:
        """Ask it to end; after the grace period, kill it."""
        ...

    async def left(self) -> ProgramEnd:
        """Wait for its end."""
        ...


class SignalBox(Protocol):
    """Where an agent leaves signals and finds answers; a signal is moved out of its reach before it is read."""

    def claim(self, *, at_once: bool = False) -> tuple[Claimed, ...]:
        """Take the signals that are there; unless `at_once`, only those that are surely complete."""
        ...

    def archive(self, number: int) -> None:
        """Keep a signal that was handled."""
        ...

    def answer(self, number: int, content: dict[str, str]) -> None:
        """Write an answer in place of its signal."""
        ...

    def unread(self, number: int) -> bool:
        """Whether the answer is still there."""
        ...

    def take_back(self, number: int) -> None:
        """Remove an answer that the agent gets in another way."""
        ...

    def warn(self, words: str) -> None:
        """Write a warning where the agent looks for one."""
        ...

    def warning_unread(self) -> bool:
        """Whether the warning is still there."""
        ...

    def take_warning_back(self) -> bool:
        """Remove a warning that is out of date or was delivered in another way; return whether it was there."""
        ...


class Room(Protocol):
    """Where an agent works: its programs run only inside the sandbox."""

    @property
    def tree(self) -> Path:
        """The checkout's path outside."""
        ...

    @property
    def inside(self) -> Path:
        """The checkout's path inside."""
        ...

    @property
    def epoch(self) -> int:
        """The attempt that made it; older than the current one if the agent has run since before a restart."""
        ...

    @property
    def log(self) -> Path:
        """The log of its programs' output."""
        ...

    @property
    def begun(self) -> asyncio.Event:
        """Set once a program is running here."""
        ...

    @property
    def signals_inside(self) -> Path:
        """The folder for the agent's signals, as a path inside."""
        ...

    @property
    def letters(self) -> SignalBox:
        """Where the agent leaves signals and finds answers."""
        ...

    def put(self, name: str, content: str) -> Path:
        """Write a file into the agent's home, and return its path inside."""
        ...

    def take(self, name: str) -> bytes:
        """Read a file the agent left in its home."""
        ...

    async def run(self, argv: tuple[str, ...], *, environment: Mapping[str, str] | None = None) -> ProgramEnd:
        """Run a command to its end; after a restart, wait for the one that was started before."""
        ...

    async def sit(self, argv: tuple[str, ...], environment: Mapping[str, str]) -> ProgramEnd:
        """Run a program interactively on its own terminal, until it ends."""
        ...

    def talk(self, argv: tuple[str, ...], environment: Mapping[str, str]) -> AbstractAsyncContextManager[Talk]:
        """Run a program and exchange messages with it over its pipes."""
        ...

    def waiting(self, span: timedelta) -> AbstractAsyncContextManager[None]:
        """Suspend the idle limit, at most this long, while the program waits for Midwatch."""
        ...
