"""The night's orders as a person writes and signs them (`orders.toml`)."""

from datetime import datetime, time
from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

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
    leave_percent: int = Field(default=0, ge=0, le=100)
    """So much of every limit of a provider stays for the person."""
    leave_at: time | None = None
    """When it must be left, on the person's clock; all night where nothing is said."""

    @model_serializer(mode="wrap")
    def _as_signed(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out a wish nobody has: orders signed before there was such a thing keep their hash."""
        written: dict[str, Any] = dump(self)
        unsaid = {name for name in ("leave_percent", "leave_at") if not written.get(name)}
        return {name: value for name, value in written.items() if name not in unsaid}


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
