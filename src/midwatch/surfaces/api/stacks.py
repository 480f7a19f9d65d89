"""Routes about stacks: list, show, check again, merge, undo."""

from typing import Annotated

from fastapi import APIRouter, Query

from midwatch.compose import House
from midwatch.errors import Unknown
from midwatch.morning import build_stack, merge_stack
from midwatch.surfaces.api.access import Operates, Person, Reads, TheHouse
from midwatch.surfaces.api.day import Shown, shown
from midwatch.surfaces.api.paging import ThePage
from midwatch.terms.records import ProjectRow, PullRequestRow, StackRow
from midwatch.terms.stack import LeftOut
from midwatch.terms.term import Term
from midwatch.views.pages.stack import StackShown, stack_shown

router = APIRouter()
Project = Annotated[str, Query(description="A project's name or id; any by default.")]


class LeftOutTold(LeftOut):
    """A branch that is not in the stack, with the reason as a sentence."""

    said: str


class StackTold(StackRow):
    """A stack in words."""

    left_out: tuple[LeftOutTold, ...]
    project_name: str
    headline: str
    offered: bool
    elsewhere: bool


class Wanted(Term):
    """The project whose branches are to be checked together."""

    project: str


async def in_words(house: House, row: StackRow) -> StackShown:
    """Describe a stack, with the names of its projects and pull requests."""
    projects = await house.records.find(ProjectRow, id=row.project)
    pulls = await house.records.find(PullRequestRow, id=tuple(step.pull_request for step in row.order[:1]))
    elsewhere = any(pull.forge != merge_stack.LOCAL for pull in pulls)
    return stack_shown(row, projects[0].name if projects else row.project, elsewhere=elsewhere)


async def _told(house: House, row: StackRow) -> Shown:
    words = await in_words(house, row)
    said = {one.number: one.why for one in words.out}
    left_out = [shown(one) | {"said": said[one.number]} for one in row.left_out]
    more = {"project_name": words.project, "headline": words.headline, "offered": words.offered}
    return shown(row) | more | {"elsewhere": words.elsewhere, "left_out": left_out}


@router.get("/stacks", dependencies=[Reads], response_model=list[StackTold])
async def stacks(house: TheHouse, page: ThePage, project: Project = "") -> list[Shown]:
    """List the stacks, oldest first."""
    wanted = {"project": (await house.records.get(ProjectRow, project)).id} if project else {}
    return [await _told(house, row) for row in page.of(await house.records.find(StackRow, **wanted))]


@router.get("/stacks/newest", dependencies=[Reads], response_model=StackTold)
async def newest(house: TheHouse, project: Project = "") -> Shown:
    """Show the newest stack of a project; without a name, of the only project that has one."""
    return await _told(house, await merge_stack.newest(house.morning, project))


@router.get("/stacks/{name}", dependencies=[Reads], response_model=StackTold)
async def stack(house: TheHouse, name: str) -> Shown:
    """Show one stack: its order, what is left out and why, what the checks said."""
    return await _told(house, await house.records.get(StackRow, name))


@router.post("/stacks", dependencies=[Operates], response_model=StackTold)
async def make(house: TheHouse, person: Person, wanted: Wanted) -> Shown:
    """Start a merge check of a project's open branches; it runs in the background."""
    if not wanted.project.strip():
        raise Unknown("No project is named.", hint="List them: midwatch project")
    return await _told(house, await build_stack.begin_anew(house.morning, wanted.project, by=person))


@router.post("/stacks/{name}/merge", dependencies=[Operates], response_model=StackTold)
async def merge(house: TheHouse, person: Person, name: str) -> Shown:
    """Merge the verified order as one, or post it on the forge's pull requests; only a person may."""
    return await _told(house, await merge_stack.take(house.morning, name, by=person))


@router.post("/stacks/{name}/undo", dependencies=[Operates], response_model=StackTold)
async def undo(house: TheHouse, person: Person, name: str) -> Shown:
    """Undo a merged stack, if its branch has not moved since."""
    return await _told(house, await merge_stack.undo(house.morning, name, by=person))
