"""Rows about this installation: projects, goals, work items, settings, current values."""

from datetime import datetime

from pydantic import JsonValue

from midwatch.terms.projects import Flag, Horizon, WorkKind, WorkStatus
from midwatch.terms.term import Term
from midwatch.terms.trust import Level


class ProjectRow(Term):
    """A registered repository."""

    id: str
    number: int
    name: str
    path: str
    branch: str
    purpose: str
    checks: tuple[str, ...]
    setup: str
    priority: int
    flags: tuple[Flag, ...]
    forge: str
    """The forge where its pull requests are opened; empty means the one its address names."""
    removed: bool
    created_at: datetime
    updated_at: datetime


class GoalRow(Term):
    """One version of a goal; the newest is current."""

    id: str
    goal: str
    project: str
    horizon: Horizon
    statement: str
    metric: str
    target_date: str
    priority: int
    status: str
    version: int
    current: bool
    created_at: datetime


class WorkRow(Term):
    """A work item."""

    id: str
    number: int
    project: str
    title: str
    type: WorkKind
    status: WorkStatus
    priority: int
    goal_links: tuple[str, ...]
    next_step: str
    owner: str
    created_at: datetime
    updated_at: datetime


class SettingsRow(Term):
    """A proposed, applied or discarded change of settings."""

    id: str
    number: int
    changes: dict[str, JsonValue]
    note: str
    state: str
    version: int | None
    actor: str
    created_at: datetime


class StandingRow(Term):
    """A value that applies until it is changed: the level."""

    id: str
    level: Level
    since: datetime
