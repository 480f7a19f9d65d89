"""The preflight: a check of everything a night will need, before it is signed."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from midwatch.terms.orders import Limits
from midwatch.terms.term import Term
from midwatch.terms.trust import Level


class LineState(StrEnum):
    """The result of one line of a preflight."""

    OK = "ok"
    LOOK = "look"
    """It does not prevent signing, and should be read first."""
    BAD = "bad"
    """The night would fail because of it."""


class What(StrEnum):
    """What a line of a preflight is about, in the order in which lines are shown."""

    CLONE = "clone"
    SETUP = "setup"
    CHECKS = "checks"
    PUSH = "push"
    HELLO = "hello"
    QUOTA = "quota"
    PING = "ping"
    WALLS = "walls"
    ROOM = "room"
    SLEEP = "sleep"


class PreflightState(StrEnum):
    """The state of a preflight."""

    RUNNING = "running"
    ENDED = "ended"
    REPLACED = "replaced"
    """Another preflight of the same night started before this one ended."""


class ProjectTried(Term):
    """A project as it was at the time of the preflight."""

    id: str
    name: str
    path: str
    branch: str
    setup: str = ""
    checks: tuple[str, ...] = ()
    """Every check that is named, by the orders or by the project."""
    project_checks: tuple[str, ...] = ()
    """Those that the project names; each job in it has them besides its own."""
    ordered: tuple[tuple[str, ...], ...] = ()
    """What each piece of work in it names, each different list once."""


class PreflightPlan(Term):
    """What one preflight checks: an equal plan means that nothing in it has changed."""

    level: Level
    limits: Limits
    projects: tuple[ProjectTried, ...]
    agents: tuple[str, ...]
    channels: tuple[str, ...] = ()

    @property
    def lines(self) -> int:
        """The least number of lines to expect: setups and quotas get a line only where there are any."""
        by_project = sum(4 if one.setup else 3 for one in self.projects)
        return by_project + len(self.agents) + len(self.channels) + len(MACHINE)


MACHINE = (What.WALLS, What.ROOM, What.SLEEP)
"""Lines about the machine itself."""
THIS_MACHINE = "this machine"


class LineResult(Term):
    """The content of a line: its result, a sentence, and what to do about it."""

    state: LineState
    text: str
    fix: str = ""
    settings: dict[str, str] = Field(default_factory=dict)
    """The settings that would allow it: a value, or what is added to a list."""


class SettingWanted(Term):
    """A setting that a preflight names, with the lines that need it."""

    key: str
    old: str
    new: str
    lines: tuple[str, ...]
    on_page: bool
    """Whether the page may change it; what lets code or credentials out of sandboxes is changed on the machine."""


class LimitLeft(Term):
    """What a provider reports is left of one of its limits, in the answer to a hello."""

    limit: str
    remaining: float | None = None
    resets_at: datetime | None = None


class AgentSeen(Term):
    """An agent as installed, and what its model answered."""

    name: str
    ready: bool
    missing: str = ""
    program: str = ""
    version: str = ""
    untested: str = ""
    """What is said of a version with which our own tests did not run; empty for one with which they did."""
    install: str = ""
    provider: str = ""
    heard: str = ""
    """The gateway's result; `no_model_needed` where the agent uses no model."""
    good: bool = False
    """The provider accepted the credential for this model, even if it could not answer just now."""
    sentence: str = ""
    limits: tuple[LimitLeft, ...] = ()
    resets_at: datetime | None = None
    """When a provider that is used up answers again."""


class SleepSeen(Term):
    """Whether the machine will sleep tonight."""

    will: Literal["no", "maybe", "likely"]
    why: str
    fix: str = ""
