"""Projects, goals, work items, settings and the level."""

from typing import Literal

from pydantic import JsonValue

from midwatch.journal.events.happening import Happening
from midwatch.terms.projects import Flag, Horizon, Project, WorkKind, WorkStatus
from midwatch.terms.trust import Level


class ProjectAdded(Happening):
    """A project was added."""

    kind: Literal["project.added"] = "project.added"
    project: Project


class ProjectChanged(Happening):
    """A project was changed; None means unchanged."""

    kind: Literal["project.changed"] = "project.changed"
    project: str
    purpose: str | None = None
    checks: tuple[str, ...] | None = None
    setup: str | None = None
    priority: int | None = None
    flags: tuple[Flag, ...] | None = None
    forge: str | None = None
    do_not_touch: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None


class ToolAlwaysAllowed(Happening):
    """A person answered a held call with "always allow here"."""

    kind: Literal["project.tool_allowed"] = "project.tool_allowed"
    project: str
    tools: tuple[str, ...]
    """Entries of a list of tools, such as `Bash(npm run *)`."""
    ask: str = ""


class ToolTakenBack(Happening):
    """A person took back what was always allowed in a project."""

    kind: Literal["project.tool_taken_back"] = "project.tool_taken_back"
    project: str
    tool: str


class ProjectRemoved(Happening):
    """A project was removed; its records stay."""

    kind: Literal["project.removed"] = "project.removed"
    project: str


class GoalSet(Happening):
    """A goal was set or changed; each statement is a version."""

    kind: Literal["goal.set"] = "goal.set"
    goal: str
    project: str
    horizon: Horizon
    statement: str
    metric: str = ""
    target_date: str = ""
    priority: int = 3


class GoalClosed(Happening):
    """A goal was reached or dropped."""

    kind: Literal["goal.closed"] = "goal.closed"
    goal: str
    status: Literal["reached", "dropped"]


class WorkAdded(Happening):
    """A work item was added."""

    kind: Literal["work.added"] = "work.added"
    item: str
    project: str
    title: str
    type: WorkKind = WorkKind.TECH_DEBT
    priority: int = 3
    goal_links: tuple[str, ...] = ()
    next_step: str = ""
    owner: Literal["agent", "human"] = "agent"


class WorkChanged(Happening):
    """A work item was changed; None means unchanged."""

    kind: Literal["work.changed"] = "work.changed"
    item: str
    status: WorkStatus | None = None
    title: str | None = None
    next_step: str | None = None
    priority: int | None = None
    owner: Literal["agent", "human"] | None = None
    why: str = ""


class SettingsProposed(Happening):
    """A settings change was proposed; nothing changes until it is applied."""

    kind: Literal["settings.proposed"] = "settings.proposed"
    proposal: str
    changes: dict[str, JsonValue]
    note: str = ""


class SettingsApplied(Happening):
    """A proposed change became the newest settings version."""

    kind: Literal["settings.applied"] = "settings.applied"
    proposal: str


class SettingsDiscarded(Happening):
    """A proposed change was discarded."""

    kind: Literal["settings.discarded"] = "settings.discarded"
    proposal: str


class LevelChanged(Happening):
    """The person changed the standing level, or with `session` the level of that night only: signed orders do.

    A lower standing level lowers every running night to it; a higher one leaves them as they were signed.
    """

    kind: Literal["level.changed"] = "level.changed"
    level: Level
    previous: Level
    forced: bool = False
    reason: str = ""
    session: str = ""
    """The night it is for; then `previous` is the standing level, which stays."""
    lowers: tuple[str, ...] | None = None
    """The running nights that it lowers; `None` in older entries, with which every running night took the level."""


ProjectEvent = (
    ProjectAdded
    | ProjectChanged
    | ProjectRemoved
    | ToolAlwaysAllowed
    | ToolTakenBack
    | GoalSet
    | GoalClosed
    | WorkAdded
    | WorkChanged
    | SettingsProposed
    | SettingsApplied
    | SettingsDiscarded
    | LevelChanged
)
