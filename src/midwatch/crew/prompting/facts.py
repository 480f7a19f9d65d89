"""What a prompt is made of, by who wrote it."""

from dataclasses import dataclass

from midwatch.terms.agents import Errand, FormerTry
from midwatch.terms.jobs import Plan


@dataclass(frozen=True, slots=True)
class PromptLimits:
    """What the job must keep to, besides its paths; 0 says nothing."""

    files: int = 0
    lines: int = 0
    minutes: int = 0


@dataclass(frozen=True, slots=True)
class ProjectState:
    """Where the project stands."""

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
class PromptFacts:
    """Everything a prompt may say. What is empty is not mentioned."""

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
    limits: PromptLimits = PromptLimits()
    project: ProjectState = ProjectState()
    plan: Plan | None = None
    """The approved one."""
    former_plan: Plan | None = None
    """One that was sent back, for another try."""
    wish: str = ""
    """What is wanted of the plan instead, by the person or by the orders' own limits."""
    rejected: tuple[str, ...] = ()
    failure: str = ""
    """What the checks printed, for a repair."""
    own: str = ""
    """The brain's own prompt: it replaces the body, never the limits (O7)."""
    telling: str = ""
    """The folder through which the agent reaches us while it works; empty where there is no way."""
    turns: bool = True
    """Whether an answer comes as its next turn; else as a file."""
    answers: tuple[tuple[str, str], ...] = ()
    """What it asked before, and what it was told."""
    pieces: bool = True
    """Whether it is to commit in pieces, or once at the end."""
    signals: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    """The same work in other repositories."""
    commits: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    interrupted: bool = False
    """Whether it goes on in a checkout it has worked in before."""
    former: FormerTry | None = None
    """The last try at this, if that failed."""
    quoted: tuple[Quoted, ...] = ()
    """Issues, pages and other strangers' text."""

    @property
    def knows_the_work(self) -> bool:
        """Whether anything says what to do."""
        told = self.objective, self.goals, self.notes, self.said, self.plan, self.failure, self.signals, self.priorities
        return any((*told, self.quoted))
