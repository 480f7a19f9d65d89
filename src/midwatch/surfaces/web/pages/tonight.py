"""The page Tonight: the orders as one sheet to sign, what prevents signing, and what is ready."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from midwatch.surfaces.api.access import Reads, TheHouse
from midwatch.surfaces.web.pages import tonight_orders, tonight_projects
from midwatch.surfaces.web.pages.tonight_facts import seen
from midwatch.surfaces.web.site.page import page

router = APIRouter(include_in_schema=False)


@router.get("/tonight", dependencies=[Reads])
async def tonight(house: TheHouse, request: Request) -> HTMLResponse:
    """Show the sheet first, then what blocks it, then the rest."""
    return page(request, "tonight.html", here="Tonight", form=None, **await seen(house))


router.include_router(tonight_orders.router)
router.include_router(tonight_projects.router)
