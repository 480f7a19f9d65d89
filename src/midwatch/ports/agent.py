"""An agent: what it is given, what it answers, and how it is heard and decided about while it works."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol, runtime_checkable

from midwatch.ports.room import Room, Talk
from midwatch.terms.agents import Access, AgentEvent, Decision, Errand, Met, RunEnded, Told
from midwatch.terms.jobs import Done, Plan


class Decide(Protocol):
    """Judges each tool call; may take long, because a person is asked."""

    async def __call__(self, tool: str, given: Mapping[str, Any]) -> Decision:
        """Say yes or no."""
        ...


class Tell(Protocol):
    """Takes each event of an agent as it comes."""

    async def __call__(self, event: AgentEvent) -> None:
        """Take one event."""
        ...


class Hear(Protocol):
    """Waits for what an agent is owed after a turn: the answer to what it asked."""

    async def __call__(self, turn: int) -> str:
        """Give it; empty lets the agent end. The same turn always gets the same."""
        ...


class Note(Protocol):
    """Gives what an agent is to read in the middle of a turn, with the answer to a tool call."""

    async def __call__(self, call: str) -> str:
        """Give it once, and again where this call is asked again; most often empty."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
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
    decide: Decide
    tell: Tell
    conversation: str = ""
    """The agent's own name for the conversation to resume."""
    tools: tuple[str, ...] = ()
    met: Callable[[], Met | None] = lambda: None
    """The last error at its model."""
    hear: Hear | None = None
    """What it is owed after a turn; None where it may not ask."""
    note: Note | None = None
    """What it is to read with the answer to its next tool call."""
    pieces: bool = True
    """Whether it is to commit in pieces, or once at the end."""


class Agent(Protocol):
    """Plans and works in its own checkout."""

    @property
    def amends(self) -> bool:
        """Whether it can plan again by what a person says of its plan."""
        ...

    async def plan(self, task: Task, /) -> Plan:
        """Look, and say what would be done; nothing is written."""
        ...

    async def execute(self, task: Task, plan: Plan, /) -> Done:
        """Carry the approved plan out and commit it."""
        ...

    async def repair(self, task: Task, base: str, failure: str, /) -> Done:
        """Fix what the checks found."""
        ...


@runtime_checkable
class InteractiveAgent(Protocol):
    """An agent whose program a person can type into."""

    def seat(self, task: Task) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """Put its files into the room; return its command line and environment."""
        ...


@dataclass(frozen=True, slots=True)
class Brief:
    """What the agent is asked, and what it must keep to."""

    errand: Errand
    prompt: str
    model: str
    access: Access
    conversation: str = ""
    """The agent's own name for the conversation to resume."""
    schema: Mapping[str, Any] | None = None
    """The shape of the plan, for those who can promise one."""
    tools: tuple[str, ...] = ()
    """Allowed tools, in the words of settings execution.allowed_tools."""
    max_turns: int = 0
    extra: Mapping[str, str] = field(default_factory=dict)
    hear: Hear | None = None
    note: Note | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """The command line and surroundings that begin an agent."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    """Written into its home before it begins."""
    takes_input: bool = True


class Driver(Protocol):
    """Leads one kind of agent program, whatever language it speaks on its pipes."""

    name: str
    governance: str
    """In one sentence: how much of what the agent does passes us."""
    tested: tuple[str, ...]
    """Versions the whole matrix of tests was run with."""
    install: str
    """How a person gets the program."""
    takes_turns: bool
    """Whether an answer reaches it as another turn; else it must look for a file."""

    def launch(self, brief: Brief, program: str) -> Launch:
        """Say how to begin it; `program` is the executable that was found."""
        ...

    async def drive(self, talk: Talk, brief: Brief, decide: Decide, tell: Tell) -> RunEnded:
        """Lead it to its end; the outcome by what it said, never by its exit code."""
        ...
