"""Routes that change the day: projects, goals, work, settings, the level."""

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import Field, JsonValue

from midwatch.compose.house import House
from midwatch.errors import Misuse
from midwatch.evening import projects as by_day
from midwatch.settings import SettingChange, parse_value
from midwatch.surfaces import settings_changes
from midwatch.surfaces.api.access import Governs, Operates, Person, TheCaller, TheHouse
from midwatch.surfaces.queries.day import LevelSet
from midwatch.surfaces.queries.reads import fields
from midwatch.terms.projects import Flag, Horizon, WorkStatus
from midwatch.terms.records import GoalRow, ProjectRow, SettingsRow, WorkRow
from midwatch.terms.term import Term
from midwatch.terms.trust import Level

router = APIRouter()
Shown = dict[str, Any]


class GoalClosing(Term):
    """How a goal ended."""

    goal: str
    statement: str
    status: Literal["reached", "dropped"]


class SettingsProposal(SettingsRow):
    """A proposal with what it would change now."""

    diff: tuple[SettingChange, ...]


def shown(row: Term) -> Shown:
    """Return a record as JSON with its own, stable names."""
    return row.model_dump(mode="json")


class NewProject(Term):
    """A repository to add."""

    path: str
    name: str = ""
    purpose: str = Field(default="", max_length=2000)
    checks: tuple[str, ...] = Field(default=(), max_length=50)
    setup: str = Field(default="", max_length=2000)
    forge: str = Field(default="", max_length=64)
    do_not_touch: tuple[str, ...] = Field(default=(), max_length=200)
    tools: tuple[str, ...] = Field(default=(), max_length=100)


class ProjectEdit(Term):
    """What to change; what is absent stays."""

    purpose: str | None = None
    checks: tuple[str, ...] | None = None
    priority: int | None = Field(default=None, ge=1, le=5)
    setup: str | None = Field(default=None, max_length=2000)
    forge: str | None = Field(default=None, max_length=64)
    do_not_touch: tuple[str, ...] | None = Field(default=None, max_length=200)
    tools: tuple[str, ...] | None = Field(default=None, max_length=100)


class ToolTaken(Term):
    """What is no longer always allowed."""

    tool: str = Field(min_length=1, max_length=400)


class FlagEdit(Term):
    """A flag to set or remove."""

    flag: Flag
    on: bool


@router.post("/projects", dependencies=[Operates])
async def add_project(house: TheHouse, caller: TheCaller, new: NewProject) -> ProjectRow:
    """Add a repository."""
    given = new.model_dump(exclude={"path"})
    return await by_day.add_project(house.evening, new.path, by=caller.name, capped=caller.capped, **given)


@router.patch("/projects/{name}", dependencies=[Operates])
async def change_project(house: TheHouse, caller: TheCaller, name: str, edit: ProjectEdit) -> ProjectRow:
    """Change a project."""
    return await by_day.change_project(house.books, name, by=caller.name, capped=caller.capped, **edit.model_dump())


@router.post("/projects/{name}/flags", dependencies=[Operates])
async def flag_project(house: TheHouse, person: Person, name: str, edit: FlagEdit) -> ProjectRow:
    """Protect, block or skip a project, or undo that."""
    return await by_day.flag_project(house.books, name, edit.flag, on=edit.on, by=person)


@router.post("/projects/{name}/tools/take-back", dependencies=[Operates])
async def take_back_tool(house: TheHouse, person: Person, name: str, taken: ToolTaken) -> ProjectRow:
    """Take back what an answer always allowed agents in a project."""
    return await by_day.take_back_tool(house.books, name, taken.tool, by=person)


@router.delete("/projects/{name}", dependencies=[Operates])
async def remove_project(house: TheHouse, person: Person, name: str) -> ProjectRow:
    """Remove a project."""
    return await by_day.remove_project(house.books, name, by=person)


class NewGoal(Term):
    """A goal, or the next version of one."""

    project: str
    statement: str = Field(max_length=1000)
    horizon: Horizon = Horizon.SHORT
    goal: str = ""


class GoalEnd(Term):
    """How a goal ends."""

    reached: bool


@router.post("/goals", dependencies=[Operates])
async def set_goal(house: TheHouse, person: Person, new: NewGoal) -> GoalRow:
    """State a goal."""
    return await by_day.set_goal(house.books, new.project, new.statement, by=person, horizon=new.horizon, goal=new.goal)


@router.post("/goals/{goal}/close", dependencies=[Operates])
async def close_goal(house: TheHouse, person: Person, goal: str, end: GoalEnd) -> GoalClosing:
    """Close a goal."""
    row = await by_day.close_goal(house.books, goal, by=person, reached=end.reached)
    return GoalClosing(goal=row.goal, statement=row.statement, status="reached" if end.reached else "dropped")


class NewWork(Term):
    """A work item."""

    project: str
    title: str = Field(min_length=1, max_length=300)
    priority: int = Field(default=3, ge=1, le=5)


class WorkEdit(Term):
    """The new state of a work item."""

    status: WorkStatus | None = None
    next_step: str | None = None


@router.post("/work", dependencies=[Operates])
async def add_work(house: TheHouse, person: Person, new: NewWork) -> WorkRow:
    """Add a work item."""
    return await by_day.add_work(house.books, new.project, new.title, by=person, priority=new.priority)


@router.patch("/work/{item}", dependencies=[Operates])
async def move_work(house: TheHouse, person: Person, item: str, edit: WorkEdit) -> WorkRow:
    """Change the state of a work item."""
    return await by_day.move_work(house.books, item, by=person, status=edit.status, next_step=edit.next_step)


class NewSettings(Term):
    """Changes by dotted key; texts are parsed by the key's type."""

    changes: dict[str, JsonValue]
    note: str = ""


@router.post("/settings/proposals", dependencies=[Operates])
async def propose(house: TheHouse, caller: TheCaller, new: NewSettings) -> SettingsProposal:
    """Propose a change and show what it would do."""
    await house.reload_settings()
    changes = dict(_read(house, key, value) for key, value in new.changes.items())
    row, differences = await settings_changes.proposed(house, changes, by=caller, note=new.note)
    return SettingsProposal(**fields(row), diff=differences)


def _read(house: House, key: str, value: JsonValue) -> tuple[str, JsonValue]:
    """Read what was typed for a setting; `KEY+` adds to the list in force, so that two such changes keep both."""
    name = key.removesuffix("+")
    new = parse_value(name, value) if isinstance(value, str) else value
    if name == key:
        return name, new
    old = house.loaded.value_of(name)
    if not isinstance(old, list) or not isinstance(new, list):
        raise Misuse(f"{name} is no list, so nothing can be added to it.", hint=f"Replace it: {name}=VALUE")
    return name, [*old, *(one for one in new if one not in old)]


@router.post("/settings/proposals/{name}/apply", dependencies=[Governs])
async def apply(house: TheHouse, caller: TheCaller, name: str) -> SettingsRow:
    """Apply a proposal."""
    return await settings_changes.applied(house, name, by=caller)


@router.post("/settings/proposals/{name}/discard", dependencies=[Operates])
async def discard(house: TheHouse, person: Person, name: str) -> SettingsRow:
    """Discard a proposal."""
    await by_day.discard_settings(house.books, name, by=person)
    return await house.records.get(SettingsRow, name)


class LevelEdit(Term):
    """A level to set."""

    level: Level
    force: bool = False
    reason: str = ""


@router.put("/level", dependencies=[Governs])
async def set_level(house: TheHouse, person: Person, edit: LevelEdit) -> LevelSet:
    """Set the level."""
    await by_day.set_level(house.books, edit.level, by=person, forced=edit.force, reason=edit.reason)
    standing = await by_day.current_level(house.records, house.loaded.settings)
    return LevelSet(level=standing, tonight=await by_day.tonight_level(house.records))
