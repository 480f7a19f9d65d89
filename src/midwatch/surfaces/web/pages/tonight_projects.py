"""Routes of Tonight's projects: add one, set flags, state goals, add work; and the current level."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from pydantic import ValidationError
from starlette.datastructures import FormData

from midwatch.errors import MidwatchError, Misuse
from midwatch.evening import projects as by_day
from midwatch.surfaces.api.access import Governs, Operates, Person, Reads, TheCaller, TheHouse
from midwatch.surfaces.api.day import FlagEdit, LevelEdit, NewGoal, NewProject, NewWork, ProjectEdit
from midwatch.surfaces.web.pages.tonight_forms import FIELD_OF, Form, kept, lines, sentence, text
from midwatch.surfaces.web.pages.tonight_regions import ThePage, answer, followed
from midwatch.terms.projects import is_url
from midwatch.terms.records import ProjectRow

router = APIRouter(include_in_schema=False)


def _said(error: MidwatchError | ValidationError) -> tuple[str, int]:
    """Describe an error in one line."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{str(first['loc'][0]).replace('_', ' ').capitalize()}: {first['msg']}.", Misuse.status
    return sentence(error), error.status


@router.post("/tonight/projects", dependencies=[Operates])
async def add_project(house: TheHouse, caller: TheCaller, request: Request, on: ThePage) -> HTMLResponse:
    """Add a repository."""
    sent = await request.form()
    try:
        if not text(sent, "path").startswith("/") and not is_url(text(sent, "path")):
            raise Misuse("Name a git repository: the whole path of a folder from / on, or an https or ssh URL.")
        new = NewProject(
            path=text(sent, "path"),
            name=text(sent, "name"),
            purpose=text(sent, "purpose"),
            checks=lines(sent, "checks"),
            setup=text(sent, "setup"),
            do_not_touch=lines(sent, "do_not_touch"),
        )
        given = new.model_dump(exclude={"path"})
        await by_day.add_project(house.evening, new.path, by=caller.name, capped=caller.capped, **given)
    except (MidwatchError, ValidationError) as error:
        said, status = _said(error)
        first = not await house.records.find(ProjectRow, removed=False)
        field = "name" if "name" in said and text(sent, "name") else FIELD_OF["project"]
        form = Form("project", kept(sent), {field: said})
        return await answer(house, "body" if first else "projects", form=form, status=status)
    first = len(await house.records.find(ProjectRow, removed=False)) == 1
    return await (answer(house, "body") if first else followed(house, on, "projects"))


@router.post("/tonight/projects/{name}", dependencies=[Operates])
async def change_project(house: TheHouse, caller: TheCaller, request: Request, on: ThePage, name: str) -> HTMLResponse:
    """Change a project's purpose, checks, protected paths, tools and priority."""
    sent = await request.form()
    try:
        edit = ProjectEdit.model_validate(
            {
                "purpose": text(sent, "purpose"),
                "checks": lines(sent, "checks"),
                "priority": text(sent, "priority") or None,
                "setup": text(sent, "setup"),
                "do_not_touch": lines(sent, "do_not_touch"),
                "tools": lines(sent, "tools"),
            }
        )
        await by_day.change_project(house.books, name, by=caller.name, capped=caller.capped, **edit.model_dump())
    except (MidwatchError, ValidationError) as error:
        return await _wrong(house, "change", name, sent, error)
    return await followed(house, on, "projects")


@router.post("/tonight/projects/{name}/tools/take-back", dependencies=[Operates])
async def take_back_tool(house: TheHouse, person: Person, request: Request, on: ThePage, name: str) -> HTMLResponse:
    """Take back what an answer always allowed agents in a project."""
    await by_day.take_back_tool(house.books, name, text(await request.form(), "tool"), by=person)
    return await followed(house, on, "projects")


async def _wrong(
    house: TheHouse, part: str, name: str, sent: FormData, error: MidwatchError | ValidationError
) -> HTMLResponse:
    said, status = _said(error)
    return await answer(house, "projects", form=Form(part, kept(sent), {"": said}, item=name), status=status)


@router.post("/tonight/projects/{name}/flags", dependencies=[Operates])
async def flag_project(house: TheHouse, person: Person, request: Request, on: ThePage, name: str) -> HTMLResponse:
    """Protect, block or skip a project, or undo that."""
    sent = await request.form()
    try:
        edit = FlagEdit.model_validate({"flag": text(sent, "flag"), "on": text(sent, "on")})
    except ValidationError as error:
        raise Misuse(_said(error)[0], hint="Reload the page.") from error
    await by_day.flag_project(house.books, name, edit.flag, on=edit.on, by=person)
    return await followed(house, on, "projects", form=Form("flag", {"flag": edit.flag.value}, item=name))


@router.post("/tonight/projects/{name}/goals", dependencies=[Operates])
async def set_goal(house: TheHouse, person: Person, request: Request, name: str) -> HTMLResponse:
    """State a goal of a project."""
    sent = await request.form()
    try:
        new = NewGoal.model_validate(
            {"project": name, "statement": text(sent, "statement"), "horizon": text(sent, "horizon") or "short"}
        )
        await by_day.set_goal(house.books, name, new.statement, by=person, horizon=new.horizon)
    except (MidwatchError, ValidationError) as error:
        return await _wrong(house, "goal", name, sent, error)
    return await answer(house, "projects")


@router.post("/tonight/projects/{name}/work", dependencies=[Operates])
async def add_work(house: TheHouse, person: Person, request: Request, name: str) -> HTMLResponse:
    """Add a work item."""
    sent = await request.form()
    try:
        new = NewWork.model_validate(
            {"project": name, "title": text(sent, "title"), "priority": text(sent, "priority") or 3}
        )
        await by_day.add_work(house.books, name, new.title, by=person, priority=new.priority)
    except (MidwatchError, ValidationError) as error:
        return await _wrong(house, "work-item", name, sent, error)
    return await answer(house, "projects")


@router.get("/tonight/level", dependencies=[Reads])
async def show_level(house: TheHouse) -> HTMLResponse:
    """Show the current level."""
    return await answer(house, "level")


@router.get("/tonight/level/edit", dependencies=[Governs])
async def edit_level(house: TheHouse) -> HTMLResponse:
    """Open the form that changes the level."""
    level = await by_day.current_level(house.records, house.loaded.settings)
    return await answer(house, "level", form=Form("level", {"level": level.value, "reason": ""}))


@router.post("/tonight/level", dependencies=[Governs])
async def set_level(house: TheHouse, person: Person, request: Request, on: ThePage) -> HTMLResponse:
    """Change the level; more than was earned needs a reason."""
    sent = await request.form()
    try:
        edit = LevelEdit.model_validate(
            {"level": text(sent, "level"), "force": bool(text(sent, "reason")), "reason": text(sent, "reason")}
        )
        await by_day.set_level(house.books, edit.level, by=person, forced=edit.force, reason=edit.reason)
    except (MidwatchError, ValidationError) as error:
        said, status = _said(error)
        field = "reason" if isinstance(error, MidwatchError) else "level"
        return await answer(house, "level", form=Form("level", kept(sent), {field: said}), status=status)
    return await followed(house, on, "level")
