"""The driver's role: one way to lead any agent program, whatever language it speaks on its pipes."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from midwatch.crew.roles import Left
from midwatch.terms.agents import Access, AgentEvent, Decision, Errand, RunEnded

__all__ = ["Access", "Brief", "Decide", "Decision", "Driver", "Hear", "Launch", "Note", "Talk", "Tell"]


class Talk(Protocol):
    """A program in its room, with its pipes: it outlives us, so what it said before a restart is said to us again."""

    def lines(self) -> AsyncIterator[bytes]:
        """Give each line of its stdout, from the first, until it has ended."""
        ...

    async def say(self, data: bytes) -> None:
        """Write to its stdin."""
        ...

    async def answered(self, question: str) -> bool:
        """Whether this question of its was answered before a restart (then it must not be answered again)."""
        ...

    async def answer(self, question: str, data: bytes) -> None:
        """Write the answer to a question to its stdin, and remember that it was given."""
        ...

    async def stop(self) -> None:
        """Ask it to end, with the usual grace, then by force."""
        ...

    async def left(self) -> Left:
        """Wait for its end and tell how it was."""
        ...


class Decide(Protocol):
    """Judges each tool call; may take long, because a person is asked."""

    async def __call__(self, tool: str, given: Mapping[str, Any]) -> Decision:
        """Say yes or no."""
        ...


class Tell(Protocol):
    """Hears each event as it comes."""

    async def __call__(self, event: AgentEvent) -> None:
        """Take one event."""
        ...


class Hear(Protocol):
    """Waits for what an agent is owed after a turn: the answer to what it asked."""

    async def __call__(self, turn: int) -> str:
        """Give it; nothing lets the agent go, and the same turn always gets the same."""
        ...


class Note(Protocol):
    """Knows what an agent is to be told in the middle of a turn."""

    async def __call__(self, call: str) -> str:
        """Give it once, with the answer to this call, also where that is asked again; only who can pass it on asks."""
        ...


@dataclass(frozen=True, slots=True)
class Brief:
    """What the agent is asked, and what it must keep to."""

    errand: Errand
    prompt: str
    model: str
    access: Access
    conversation: str = ""
    """Go on with this one, by the agent's own name for it."""
    schema: Mapping[str, Any] | None = None
    """The shape of the plan, for those who can promise one."""
    tools: tuple[str, ...] = ()
    """Allowed tools, in the words of settings execution.allowed_tools."""
    max_turns: int = 0
    extra: Mapping[str, str] = field(default_factory=dict)
    hear: Hear | None = None
    """What there is to say to it when a turn of it is over."""
    note: Note | None = None
    """What there is to say to it beside the answer to its next tool call."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The command line and surroundings that begin an agent."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    """Laid into its home before it begins."""
    takes_input: bool = True


class Driver(Protocol):
    """Knows one kind of agent program."""

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
