"""The night's orders as a person writes and signs them (`orders.toml`)."""

from datetime import datetime

from pydantic import Field

from midwatch.terms.term import Term
from midwatch.terms.trust import Level


class OrderedWork(Term):
    """One piece of work for tonight."""

    project: str
    title: str
    checks: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    agent: str = "housekeeper"


class Limits(Term):
    """Ceilings for the whole session."""

    usd: float = Field(default=50, ge=0, le=1_000_000, allow_inf_nan=False)
    tokens: int = Field(default=20_000_000, ge=0, le=10**12)
    minutes: int = Field(default=600, gt=0, le=100_000)
    rounds: int = Field(default=500, gt=0, le=1_000_000)


class Permissions(Term):
    """What the person allows beyond looking."""

    tools: tuple[str, ...] = ("repo_read", "repo_write_pr")
    domains: tuple[str, ...] = ()
    external: tuple[str, ...] = ("pull_request",)
    silence_approves: bool = True


class Orders(Term):
    """The confirmed briefing snapshot: goals, work, limits, permissions, level."""

    level: Level = Level.CAUTIOUS
    goals: tuple[str, ...] = ()
    success_criteria: tuple[str, ...] = ()
    notes: str = ""
    work: tuple[OrderedWork, ...] = ()
    limits: Limits = Limits()
    permissions: Permissions = Permissions()
    do_not_touch: tuple[str, ...] = ()
    until: datetime | None = None
