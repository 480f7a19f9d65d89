"""A room: the sandboxed checkout and home in which an agent's programs run."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from midwatch.terms.signals import Claimed
from midwatch.terms.term import Term


class ProgramEnd(Term):
    """How a program in a room ended."""

    exit_code: int
    stopped: bool
    """We asked it to; limits have their own exit codes (124 wall, 125 idle)."""
    sentence: str
    tail: str
    seconds: float = 0.0


class Talk(Protocol):
    """A program in its room, with its pipes. It outlives this server, so after a restart its output is read again."""

    def lines(self) -> AsyncIterator[bytes]:
        """Give each line of its stdout, from the first, until it has ended."""
        ...

    async def say(self, data: bytes) -> None:
        """Write to its stdin."""
        ...

    async def answered(self, question: str) -> bool:
        """Whether this question was answered before a restart (then it must not be answered again)."""
        ...

    async def answer(self, question: str, data: bytes) -> None:
        """Write the answer to a question to its stdin, and remember that it was given."""
        ...

    async def stop(self) -> None:
        """Ask it to end, with the usual grace, then by force."""
        ...

    async def left(self) -> ProgramEnd:
        """Wait for its end."""
        ...


class SignalBox(Protocol):
    """Where an agent leaves signals and finds answers; a signal is moved out of its reach before it is read."""

    def claim(self, *, at_once: bool = False) -> tuple[Claimed, ...]:
        """Take what is there; unless at once, only what is surely whole."""
        ...

    def archive(self, number: int) -> None:
        """Keep a signal that was handled."""
        ...

    def answer(self, number: int, content: dict[str, str]) -> None:
        """Write an answer where the signal was."""
        ...

    def unread(self, number: int) -> bool:
        """Whether the answer is still there."""
        ...

    def take_back(self, number: int) -> None:
        """Remove an answer that reaches the agent in another way."""
        ...

    def warn(self, words: str) -> None:
        """Write a warning where the agent looks for one."""
        ...

    def warning_unread(self) -> bool:
        """Whether the warning is still there."""
        ...

    def take_warning_back(self) -> bool:
        """Remove a warning that is no longer true, or reaches the agent in another way; return whether it was there."""
        ...


class Room(Protocol):
    """Where an agent works: inside the sandbox, and started in no other way."""

    @property
    def tree(self) -> Path:
        """The checkout as we see it."""
        ...

    @property
    def inside(self) -> Path:
        """The checkout as the agent sees it."""
        ...

    @property
    def epoch(self) -> int:
        """The attempt that made it; older than ours if the agent has been at work since before a restart."""
        ...

    @property
    def log(self) -> Path:
        """The log of what its programs print."""
        ...

    @property
    def begun(self) -> asyncio.Event:
        """Set once a program is at work here."""
        ...

    @property
    def signals_inside(self) -> Path:
        """Where the agent writes its signals, as it sees it."""
        ...

    @property
    def letters(self) -> SignalBox:
        """Where it leaves signals and finds answers."""
        ...

    def put(self, name: str, content: str) -> Path:
        """Write a file into the agent's home, and return its path inside."""
        ...

    def take(self, name: str) -> bytes:
        """Read a file the agent left in its home."""
        ...

    async def run(self, argv: tuple[str, ...], *, environment: Mapping[str, str] | None = None) -> ProgramEnd:
        """Run a command to its end; after a restart, the one that was begun before."""
        ...

    async def sit(self, argv: tuple[str, ...], environment: Mapping[str, str]) -> ProgramEnd:
        """Run a program on a terminal of its own, for a person, until it ends."""
        ...

    def talk(self, argv: tuple[str, ...], environment: Mapping[str, str]) -> AbstractAsyncContextManager[Talk]:
        """Run a program that is spoken with over its pipes."""
        ...

    def waiting(self, span: timedelta) -> AbstractAsyncContextManager[None]:
        """Keep the idle limit from counting, at most this long, while the program waits for us."""
        ...
