"""An agent: what it is given, what it returns, and the callbacks for its events and tool calls."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from midwatch.ports.room import Room, Talk
from midwatch.terms.agents import Access, AgentEvent, Decision, Errand, FormerTry, Met, Printed, RunEnded
from midwatch.terms.jobs import Done, Plan

NO_MODEL = Access(base_url="", placeholder="", kind="none")
"""For an agent that uses no model."""


class Decide(Protocol):
    """Decides each tool call; may take long, because a person may be asked."""

    async def __call__(self, tool: str, given: Mapping[str, Any]) -> Decision:
        """Allow or deny one call."""
        ...


class Tell(Protocol):
    """Receives each event of an agent."""

    async def __call__(self, event: AgentEvent) -> None:
        """Receive one event."""
        ...


class Hear(Protocol):
    """Waits for the answers to what an agent asked during a turn."""

    async def __call__(self, turn: int) -> str:
        """Return the answers; empty lets the agent end. The same turn always gets the same text."""
        ...


class Note(Protocol):
    """Gives a text for the agent in the middle of a turn, with the result of a tool call."""

    async def __call__(self, call: str) -> str:
        """Return the text, usually empty; it is given once, and again if the same call is repeated."""
        ...


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """The job's limits, besides its paths; 0 means no limit."""

    files: int = 0
    lines: int = 0
    minutes: int = 0


@dataclass(frozen=True, slots=True)
class TaskProject:
    """The project as described in the prompt."""

    name: str = ""
    purpose: str = ""
    branch: str = ""
    base: str = ""
    setup: str = ""
    """The command that prepared the tree."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text that others wrote, and what kind of text it is."""

    what: str
    text: str


@dataclass(frozen=True, slots=True)
class FormerPullRequest:
    """A pull request of the same agent in the same project that is open, or was rejected."""

    number: int
    base: str
    head: str
    rejected: bool


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """The facts in an agent's prompt. Empty fields are left out."""

    errand: Errand
    objective: str = ""
    goals: tuple[str, ...] = ()
    success_criteria: tuple[str, ...] = ()
    notes: str = ""
    said: str = ""
    """The person's messages about this work."""
    paths: tuple[str, ...] = ()
    do_not_touch: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    done_when: tuple[str, ...] = ()
    limits: TaskLimits = TaskLimits()
    project: TaskProject = TaskProject()
    plan: Plan | None = None
    """The approved plan."""
    former_plan: Plan | None = None
    """A plan that was sent back for another try."""
    wish: str = ""
    """What should change in the plan, from the person or from the limits of the orders."""
    rejected: tuple[str, ...] = ()
    """What people said when they rejected plans for this work."""
    failure: str = ""
    """What the checks printed, for a repair."""
    own: str = ""
    """The brain's own prompt (O7). It replaces the body, never the limits, the person's words or the plan."""
    telling: str = ""
    """The folder for the agent's signals to Midwatch; empty if it has none."""
    turns: bool = True
    """Whether an answer comes as its next turn; otherwise as a file."""
    answers: tuple[tuple[str, str], ...] = ()
    """Its earlier questions, with the answers."""
    pieces: bool = True
    """Whether it should commit in pieces, or once at the end."""
    signals: tuple[str, ...] = ()
    """The last reports in the project."""
    priorities: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    """The same work in other repositories."""
    commits: tuple[str, ...] = ()
    """Subjects of the last commits, newest first; untrusted text."""
    memory: tuple[str, ...] = ()
    interrupted: bool = False
    """Whether it resumes in a checkout it has worked in before."""
    former: FormerTry | None = None
    """The last try at this work, if it failed."""
    proposed: tuple[FormerPullRequest, ...] = ()
    """What the housekeeper proposed before, and must not propose again."""
    quoted: tuple[Quoted, ...] = ()
    """Issues, pages and other untrusted text."""

    @property
    def knows_the_work(self) -> bool:
        """Whether any field says what to do."""
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
    """The agent's own id of the conversation to resume."""
    idle: timedelta = timedelta(minutes=10)
    met: Callable[[], Met | None] = lambda: None
    """The last error from its model."""
    hear: Hear | None = None
    """Waits for answers after a turn; None if it may not ask."""
    note: Note | None = None
    """Gives a text with the result of its next tool call."""


class Agent(Protocol):
    """Plans and works in its own checkout."""

    @property
    def amends(self) -> bool:
        """Whether it can revise a plan that a person sent back."""
        ...

    async def plan(self, task: Task, /) -> Plan:
        """Read the checkout and return a plan; nothing is written."""
        ...

    async def execute(self, task: Task, plan: Plan, /) -> Done:
        """Carry out the approved plan and commit the work."""
        ...

    async def repair(self, task: Task, base: str, failure: str, /) -> Done:
        """Fix what the checks found."""
        ...


@runtime_checkable
class InteractiveAgent(Protocol):
    """An agent whose program a person can type into."""

    def interactive_command(self, task: Task) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """Write its files into the room; return its command line and environment."""
        ...


@dataclass(frozen=True, slots=True)
class AgentBrief:
    """What a driver gives its program: the prompt, the model and the conversation.

    It is not the task itself, because a preflight also starts the program without a task, in an empty room.
    """

    errand: Errand
    prompt: str
    model: str
    access: Access
    small_model: str = ""
    """The model for titles and searches; empty means the same, because a request to any other is refused."""
    conversation: str = ""
    """The agent's own id of the conversation to resume."""
    schema: Mapping[str, Any] | None = None
    """The JSON schema of the plan, for programs that can keep to one."""
    tools: tuple[str, ...] = ()
    """Allowed tools, as named in settings execution.allowed_tools."""
    max_turns: int = 0
    extra: Mapping[str, str] = field(default_factory=dict)
    hear: Hear | None = None
    note: Note | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """The command line, environment and files that start an agent."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    """Written into its home before it starts."""
    takes_input: bool = True


class AskProgram(Protocol):
    """Asks a program one word, such as --version, in an empty folder where it can do no harm."""

    def __call__(self, program: Path, word: str, *, lent: Path | None, named: bool) -> str:
        """Return what it prints; blocking. One that a person `named` is never run outside walls."""
        ...


class OutputReader(Protocol):
    """Reads an agent's log again, from its first line or from one in the middle."""

    def read(self, line: bytes) -> list[AgentEvent | Printed]:
        """Return what happened by one line; a line of no protocol is printed text."""
        ...


class Driver(Protocol):
    """Drives one kind of agent program over its pipes, in that program's protocol."""

    name: str
    governance: str
    """One sentence: how many of the agent's actions Midwatch can decide."""
    tested: tuple[str, ...]
    """Versions that the whole test matrix was run with."""
    install: str
    """How a person installs the program."""
    takes_turns: bool
    """Whether an answer reaches it as another turn; otherwise it must look for a file."""

    def launch(self, brief: AgentBrief, program: str) -> Launch:
        """Return how to start it; `program` is the executable that was found."""
        ...

    async def drive(self, talk: Talk, brief: AgentBrief, decide: Decide, tell: Tell) -> RunEnded:
        """Drive it until it ends; the outcome comes from its messages, never from its exit code."""
        ...
