"""Words about the look at everything a night will need, before it is signed."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from midwatch.terms.orders import Limits
from midwatch.terms.term import Term
from midwatch.terms.trust import Level


class LineState(StrEnum):
    """How one line of a preflight stands."""

    OK = "ok"
    LOOK = "look"
    """It keeps nobody from signing, and should be read first."""
    BAD = "bad"
    """The night would fail on it."""


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
    """Where a preflight stands."""

    RUNNING = "running"
    ENDED = "ended"
    REPLACED = "replaced"
    """Another one of the same night began before it had ended."""


class ProjectTried(Term):
    """A project as it was when it was looked at."""

    id: str
    name: str
    path: str
    branch: str
    setup: str = ""
    checks: tuple[str, ...] = ()


class PreflightPlan(Term):
    """What one preflight looks at: the same plan again means that nothing of it was changed meanwhile."""

    level: Level
    limits: Limits
    projects: tuple[ProjectTried, ...]
    agents: tuple[str, ...]
    channels: tuple[str, ...] = ()

    @property
    def lines(self) -> int:
        """How many lines are to come at least: setups and quotas are told only where there are any."""
        by_project = sum(4 if one.setup else 3 for one in self.projects)
        return by_project + len(self.agents) + len(self.channels) + len(MACHINE)


MACHINE = (What.WALLS, What.ROOM, What.SLEEP)
"""Lines about the machine itself."""
THIS_MACHINE = "this machine"


class LineResult(Term):
    """What a line says: how it stands, in a sentence, and what to do about it."""

    state: LineState
    text: str
    fix: str = ""


class LimitLeft(Term):
    """What a provider said is left of one of its limits, in the answer to a hello."""

    limit: str
    remaining: float | None = None
    resets_at: datetime | None = None


class AgentSeen(Term):
    """An agent as it was found, and what its model answered."""

    name: str
    ready: bool
    missing: str = ""
    program: str = ""
    version: str = ""
    untested: str = ""
    """What is said of a version nobody has tried; nothing where it was."""
    install: str = ""
    provider: str = ""
    heard: str = ""
    """As the gateway calls it; `no_model_needed` where there is nobody to greet."""
    good: bool = False
    """The provider took the credential for this model, even where it had no answer to give just now."""
    sentence: str = ""
    limits: tuple[LimitLeft, ...] = ()
    resets_at: datetime | None = None
    """When a provider that is used up answers again."""


class SleepSeen(Term):
    """Whether the machine will sleep tonight."""

    will: Literal["no", "maybe", "likely"]
    why: str
    fix: str = ""
