"""One tool call of an agent: what it asked, what is known, what was decided."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from midwatch.terms.agents import Errand
from midwatch.terms.english import reason
from midwatch.terms.term import Term
from midwatch.terms.trust import Isolation, Level, Reason

MOST_PATHS: Final = 500
"""The most paths that one call may name."""


class ToolOutcome(StrEnum):
    """The three answers, from the least reach to the most."""

    DENY = "deny"
    ASK = "ask"
    ALLOW = "allow"

    @property
    def reach(self) -> int:
        """How far the call gets; the laws compare this."""
        return list(ToolOutcome).index(self)


class ToolKind(StrEnum):
    """What a tool does, whatever its vendor calls it."""

    READ = "read"
    SEARCH = "search"
    WRITE = "write"
    RUN = "run"
    TEND = "tend"
    """Ends a shell the agent itself began."""
    FETCH = "fetch"
    DELEGATE = "delegate"
    REMEMBER = "remember"
    QUESTION = "question"
    WIDEN = "widen"
    """Asks for more permission than it has."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What an agent wants to do, in the terms of Claude's tools for every vendor."""

    tool: str
    input: Mapping[str, Any] = field(default_factory=dict)
    """With `cwd`, where its driver knows the folder from which relative paths count."""


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """The facts for a verdict."""

    errand: Errand
    level: Level
    allowed_paths: tuple[str, ...]
    """What may be written, by patterns; nothing at all when empty."""
    root: str = "/ws"
    """What the tree is called inside."""
    home: str = "/home/agent"
    work_paths: tuple[str, ...] = ()
    """The paths of this piece of work, inside the allowed ones; empty: all of them."""
    opened: tuple[str, ...] = ()
    """Single files outside them that a person allowed for this job."""
    do_not_touch: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    """In the words of settings execution.allowed_tools, such as `Read` and `Bash(git *)`; inside strong walls it does
    not bind."""
    narrowing: tuple[tuple[str, ...], ...] = ()
    """Lists that a person wrote for this project or this work: a call must be on each, at every isolation."""
    own_commands: tuple[str, ...] = ()
    """The project's checks and its setup: always allowed."""
    isolation: Isolation = Isolation.NONE
    """The walls that the agent runs in."""
    allowed_domains: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()
    """Absolute folders that belong to this job alone, such as its own /tmp."""
    tainted: bool = False
    denied_before: bool = False
    """The same call was asked and refused already."""

    @property
    def walled(self) -> bool:
        """Whether the walls are the permission: strong isolation, and no plan is being made."""
        return self.isolation is Isolation.BUBBLEWRAP and self.errand is not Errand.PLAN


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A tool call in Midwatch's own terms: names, paths, a command, an address, and no prose."""

    kind: ToolKind
    tool: str
    """The word for it in settings execution.allowed_tools."""
    paths: tuple[str, ...] = ()
    command: str | None = None
    argv: tuple[str, ...] | None = None
    """The words of a command that no shell will read."""
    cwd: str = ""
    url: str = ""
    malformed: bool = False


@dataclass(frozen=True, slots=True)
class PartDecision:
    """What one part of a call may do, and why."""

    outcome: ToolOutcome
    reason: Reason
    opens: str = ""
    """The file outside the work's own paths that a yes would open."""


def allow(code: str, **facts: object) -> PartDecision:
    return PartDecision(ToolOutcome.ALLOW, reason(code, **facts))


def ask(code: str, **facts: object) -> PartDecision:
    return PartDecision(ToolOutcome.ASK, reason(code, **facts))


def deny(code: str, **facts: object) -> PartDecision:
    return PartDecision(ToolOutcome.DENY, reason(code, **facts))


class ToolVerdict(Term):
    """What was decided, the deciding reason first."""

    outcome: ToolOutcome
    kind: ToolKind
    reasons: tuple[Reason, ...]
    taints: bool = False
    """Once done, the run has read untrusted text."""
    opens: tuple[str, ...] = ()
    """The files outside the work's own paths that a person who says yes to it allows."""

    @property
    def first(self) -> Reason:
        return self.reasons[0]

    @property
    def why(self) -> str:
        """Say everything the agent can use, in one text."""
        return " ".join(reason.text for reason in self.reasons)
