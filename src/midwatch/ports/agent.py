"""An agent: what it is given, what it answers, and how it is heard and decided about while it works."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol, runtime_checkable

from midwatch.ports.room import Room, Talk
from midwatch.terms.agents import Access, AgentEvent, Decision, Errand, FormerTry, Met, RunEnded
from midwatch.terms.jobs import Done, Plan

NO_MODEL = Access(base_url="", placeholder="", kind="none")
"""For an agent that asks no model."""


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
class TaskLimits:
    """What the job must keep to, besides its paths; 0 says nothing."""

    files: int = 0
    lines: int = 0
    minutes: int = 0


@dataclass(frozen=True, slots=True)
class TaskProject:
    """The project as the agent reads of it."""

    name: str = ""
    purpose: str = ""
    branch: str = ""
    base: str = ""
    setup: str = ""
    """The command that prepared the tree."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text that others wrote, and what it is."""

    what: str
    text: str


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What an agent is told about its work. What is empty is not mentioned in the prompt."""

    errand: Errand
    objective: str = ""
    goals: tuple[str, ...] = ()
    success_criteria: tuple[str, ...] = ()
    notes: str = ""
    said: str = ""
    """What the person said about this work."""
    paths: tuple[str, ...] = ()
    do_not_touch: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    limits: TaskLimits = TaskLimits()
    project: TaskProject = TaskProject()
    plan: Plan | None = None
    """The approved one."""
    former_plan: Plan | None = None
    """One that was sent back, for another try."""
    wish: str = ""
    """What is wanted of the plan instead, by the person or by the orders' own limits."""
    rejected: tuple[str, ...] = ()
    """What people said to plans for this work that they turned down."""
    failure: str = ""
    """What the checks printed, for a repair."""
    own: str = ""
    """The brain's own prompt: it replaces the body, never the limits (O7)."""
    telling: str = ""
    """The folder through which the agent reaches us while it works; empty where there is no way."""
    turns: bool = True
    """Whether an answer comes as its next turn; else as a file."""
    answers: tuple[tuple[str, str], ...] = ()
    """What it asked before, and the answers."""
    pieces: bool = True
    """Whether it is to commit in pieces, or once at the end."""
    signals: tuple[str, ...] = ()
    """What was last reported in the project."""
    priorities: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    """The same work in other repositories."""
    commits: tuple[str, ...] = ()
    """Subjects of the last commits, newest first; strangers may have written them."""
    memory: tuple[str, ...] = ()
    interrupted: bool = False
    """Whether it resumes in a checkout it has worked in before."""
    former: FormerTry | None = None
    """The last try at this, if that failed."""
    quoted: tuple[Quoted, ...] = ()
    """Issues, pages and other strangers' text."""

    @property
    def knows_the_work(self) -> bool:
        """Whether anything says what to do."""
        known = (
            self.objective,
            self.goals,
            self.notes,
            self.said,
            self.plan,
            self.failure,
            self.signals,
            self.priorities,
        )
        return any((*known, self.quoted))


@dataclass(frozen=True, slots=True)
class Task:
    """What the night gives an agent: the facts of its work, a room, and its callbacks."""

    job: str
    title: str
    facts: TaskFacts
    room: Room
    decide: Decide
    tell: Tell
    access: Access = NO_MODEL
    conversation: str = ""
    """The agent's own name for the conversation to resume."""
    idle: timedelta = timedelta(minutes=10)
    met: Callable[[], Met | None] = lambda: None
    """The last error at its model."""
    hear: Hear | None = None
    """What it is owed after a turn; None where it may not ask."""
    note: Note | None = None
    """What it is to read with the answer to its next tool call."""


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
class AgentBrief:
    """What a driver says to its program: the prompt, and by which model and conversation.

    Not the task itself, because a program is also greeted without one, in an empty room.
    """

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

    def launch(self, brief: AgentBrief, program: str) -> Launch:
        """Say how to begin it; `program` is the executable that was found."""
        ...

    async def drive(self, talk: Talk, brief: AgentBrief, decide: Decide, tell: Tell) -> RunEnded:
        """Lead it to its end; the outcome by what it said, never by its exit code."""
        ...
