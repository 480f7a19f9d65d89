"""The stack on the morning's page: show, merge as one, undo, check again."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from midwatch.compose.house import House
from midwatch.morning import build_stack, merge_stack
from midwatch.surfaces.api.access import Operates, Person, Reads, TheHouse
from midwatch.surfaces.queries.stacks import in_words
from midwatch.surfaces.web.pages.morning import page_of
from midwatch.surfaces.web.site.page import fragment
from midwatch.terms.records import SessionRow, StackRow

router = APIRouter(include_in_schema=False)


@router.get("/morning/stack/{name}", dependencies=[Reads])
async def stack(house: TheHouse, name: str) -> HTMLResponse:
    """Show one stack as it is now."""
    return await _shown(house, await house.records.get(StackRow, name))


@router.post("/morning/stack/{name}/merge", dependencies=[Operates])
async def merge(house: TheHouse, person: Person, name: str) -> HTMLResponse:
    """Merge the verified order as one, or post it on the forge."""
    return await _shown(house, await merge_stack.take(house.morning, name, by=person))


@router.post("/morning/stack/{name}/undo", dependencies=[Operates])
async def undo(house: TheHouse, person: Person, name: str) -> HTMLResponse:
    """Undo a merged stack."""
    return await _shown(house, await merge_stack.undo(house.morning, name, by=person))


@router.post("/morning/stack/{name}/check", dependencies=[Operates])
async def check(house: TheHouse, person: Person, name: str) -> HTMLResponse:
    """Check the branches of the same project again."""
    old = await house.records.get(StackRow, name)
    return await _shown(house, await build_stack.begin_anew(house.morning, old.project, by=person))


async def _shown(house: House, row: StackRow) -> HTMLResponse:
    """Draw the stack, and with it the pull requests in it that the page shows."""
    night = await house.records.get(SessionRow, row.session)
    shown = await page_of(house, str(night.number))
    mine = {step.number for step in row.order}
    pulls = [item.pull for item in shown.items if item.pull is not None and item.pull.number in mine]
    return HTMLResponse(fragment("_stack_and_pulls.html", stack=await in_words(house, row), pulls=pulls))
