"""What an agent is given to work in: a room behind walls, its terms, and who stands at its doors."""

import asyncio
import socket
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

from midwatch.terms.agents import Access, AgentEvent, Decision, Met, ModelAccess, Told
from midwatch.terms.signals import Claimed


@dataclass(frozen=True, slots=True)
class Place:
    """Which job, of which project, at which attempt."""

    project: str
    job: str
    epoch: int


class Decide(Protocol):
    """Judges each tool call; may take long, because a person is asked."""

    async def __call__(self, tool: str, given: Mapping[str, Any]) -> Decision:
        """Say yes or no."""
        ...


class Tell(Protocol):
    """Hears what an agent does, as it does it."""

    async def __call__(self, event: AgentEvent) -> None:
        """Take one event."""
        ...


class Hear(Protocol):
    """Tells an agent more when a turn of it is over: the answer to what it asked."""

    async def __call__(self, turn: int) -> str:
        """Wait for the answers it is owed after this turn, and give them; nothing lets it go."""
        ...


class Note(Protocol):
    """Tells an agent something in the middle of a turn, along with the answer to a tool call."""

    async def __call__(self, call: str) -> str:
        """Give what there is to say, once; most often nothing."""
        ...


class Left(Protocol):
    """How an agent left its room."""

    @property
    def exit_code(self) -> int: ...  # noqa: D102
    @property
    def stopped(self) -> bool: ...  # noqa: D102
    @property
    def sentence(self) -> str: ...  # noqa: D102
    @property
    def tail(self) -> str: ...  # noqa: D102


class Letterbox(Protocol):
    """Where an agent leaves signals and finds answers; what it wrote is taken out of its reach before it is read."""

    def claim(self, *, at_once: bool = False) -> tuple[Claimed, ...]:
        """Take what is there; unless at once, only what is surely whole."""
        ...

    def archive(self, number: int) -> None:
        """Keep a signal that was handled."""
        ...

    def answer(self, number: int, content: dict[str, str]) -> None:
        """Lay an answer beside where the signal lay."""
        ...

    def unread(self, number: int) -> bool:
        """Tell whether the answer still lies there."""
        ...

    def take_back(self, number: int) -> None:
        """Remove an answer that reaches the agent in another way."""
        ...

    def warn(self, words: str) -> None:
        """Lay a warning where the agent is told to look for one."""
        ...

    def warning_unread(self) -> bool:
        """Tell whether the warning still lies there."""
        ...

    def take_warning_back(self) -> bool:
        """Remove a warning that is not true any more, or reaches it in another way; tell whether it was there."""
        ...


class Room(Protocol):
    """Where an agent works: behind walls, and started in no other way."""

    tree: Path
    """The checkout as we see it."""
    inside: Path
    """The checkout as the agent sees it."""
    epoch: int
    """Whose attempt it is; older than ours if the agent has been at work since before a restart."""
    log: Path
    begun: asyncio.Event
    """Whether somebody is at work here since we came."""
    signals_inside: Path
    """Where the agent writes its signals, as it sees it."""

    @property
    def letters(self) -> Letterbox:
        """Where it leaves signals and finds answers."""
        ...

    def put(self, name: str, content: str) -> Path:
        """Lay a file into the agent's home, and tell what it is called inside."""
        ...

    def take(self, name: str) -> bytes:
        """Read a file the agent left in its home."""
        ...

    async def run(self, argv: tuple[str, ...], *, environment: Mapping[str, str] | None = None) -> Left:
        """See a command through to its end; after a restart, the one that was begun before."""
        ...

    async def sit(self, argv: tuple[str, ...], environment: Mapping[str, str]) -> Left:
        """Have a person type into a program on a terminal of its own, until it ends."""
        ...

    def talk(self, argv: tuple[str, ...], environment: Mapping[str, str]) -> AbstractAsyncContextManager[Any]:
        """Have a program at work that is spoken with over its pipes."""
        ...

    def waiting(self, span: timedelta) -> AbstractAsyncContextManager[None]:
        """Have whoever is at work wait for us: at most for so long, its silence is not counted."""
        ...


@dataclass(frozen=True, slots=True)
class Assignment:
    """What an agent is given: a room to work in and what to keep to."""

    job: str
    title: str
    room: Room
    checks: tuple[str, ...]
    paths: tuple[str, ...]
    avoid: tuple[str, ...]
    most_files: int
    most_lines: int
    idle: timedelta
    told: Told
    access: Access
    """Empty where the agent asks no model."""
    decide: "Decide"
    tell: "Tell"
    conversation: str = ""
    """What the agent itself calls what was said so far, if it is to go on with it."""
    tools: tuple[str, ...] = ()
    met: Callable[[], Met | None] = lambda: None
    """What it last met at the door to its model."""
    hear: "Hear | None" = None
    """What there is to say to it when a turn of it is over; nobody, where it may not ask."""
    note: "Note | None" = None
    """What there is to say to it beside the answer to its next tool call."""
    pieces: bool = True
    """Whether it is to commit in pieces, or once at the end."""


class Doorman(Protocol):
    """Serves the doors of a room: the only ways out of it."""

    @property
    def ports(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def environment(self) -> Mapping[str, str]: ...  # noqa: D102
    async def serve(self, listeners: list[socket.socket]) -> None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Reach:
    """What one attempt may reach on the network, and how often."""

    job: str
    epoch: int
    domains: tuple[str, ...]
    max_requests: int
    registries: tuple[str, ...] = ()
    """Package registries with their credentials' names, for setups."""
    purpose: str = ""
    model: ModelAccess | None = None
    """Which model the attempt may ask."""


class Doorkeeping(Protocol):
    """Gives each room its doorman."""

    def doorman(self, reach: Reach) -> Doorman:
        """Make one who knows what may be reached and writes down what was."""
        ...

    def access(self, reach: Reach) -> tuple[str, str, str]:
        """Tell a program inside where its model is, what to present there, and of what kind that is."""
        ...

    def met(self, job: str) -> Met | None:
        """Tell what a job last met at the door to its model, unless it went well."""
        ...


@dataclass(frozen=True, slots=True)
class Lodging:
    """What kind of room an agent needs, and for how long."""

    place: Place
    commit: str
    purpose: str
    """The same after a crash finds the agent at work; any other begins anew."""
    paths: tuple[str, ...]
    sparse_from: int
    """How many files a commit must have for a checkout of those paths alone."""
    reads_only: bool
    setup_key: str
    takes_over: str
    """The job in whose last checkout of the same work this one goes on; nothing for a fresh one."""
    wall: timedelta
    idle: timedelta
    grace: timedelta
    night_left: timedelta | None
    doorman: Doorman | None
    stop: asyncio.Event
    room_bytes: int
    floor_bytes: int
