"""The page Tonight: the orders as one sheet to sign, what prevents signing, and what is ready."""

from typing import Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from midwatch.compose.house import House
from midwatch.errors import MidwatchError, Unknown
from midwatch.evening import preflight as looks
from midwatch.evening import sign_orders
from midwatch.evening.orders_file import EXAMPLE
from midwatch.surfaces.api.access import Operates, Person, Reads, TheHouse
from midwatch.surfaces.web.pages import tonight_forms as forms
from midwatch.surfaces.web.pages import tonight_projects
from midwatch.surfaces.web.pages.tonight_facts import seen
from midwatch.surfaces.web.pages.tonight_regions import FOLLOWING, answer
from midwatch.surfaces.web.site.page import page
from midwatch.terms.orders import OrderedWork, Orders
from midwatch.terms.records import ProjectRow, SessionRow, WorkRow

router = APIRouter(include_in_schema=False)


@router.get("/tonight", dependencies=[Reads])
async def tonight(house: TheHouse, request: Request) -> HTMLResponse:
    """Show the sheet first, then what blocks it, then the rest."""
    return page(request, "tonight.html", here="Tonight", form=None, **await seen(house))


router.include_router(tonight_projects.router)


Part = Literal["goals", "work", "limits", "permissions", "text"]
SHEET = ("goals", "work", "limits", "permissions", *FOLLOWING)
SOURCE = "the page Tonight"


async def _draft(house: House) -> SessionRow | None:
    try:
        return await sign_orders.current_draft(house.records)
    except Unknown:
        return None


async def _orders(house: House) -> Orders:
    draft = await _draft(house)
    return draft.orders if draft else Orders()


@router.get("/tonight/orders/{part}", dependencies=[Reads])
async def show_part(house: TheHouse, part: Part) -> HTMLResponse:
    """Show a part of the sheet again."""
    return await answer(house, part)


@router.get("/tonight/orders/{part}/edit", dependencies=[Operates])
async def edit_part(house: TheHouse, part: Part, item: str = "") -> HTMLResponse:
    """Open a part of the sheet for changes in place."""
    return await answer(house, part, form=forms.opened(part, await _orders(house), item))


@router.get("/tonight/orders/text/example", dependencies=[Operates])
async def edit_example(house: TheHouse) -> HTMLResponse:
    """Open the sheet as text with an example to begin with, about a project that exists."""
    projects = await house.records.find(ProjectRow, removed=False)
    text = EXAMPLE.replace('"PROJECT"', f'"{projects[0].name}"', 1) if projects else EXAMPLE
    lines = [line for line in text.splitlines() if "midwatch " not in line or not line.startswith("#")]
    text = "\n".join(line.split("  # as named by")[0] for line in lines) + "\n"
    return await answer(house, "text", form=forms.Form("text", {"toml": text}))


@router.post("/tonight/orders/{part}", dependencies=[Operates])
async def change_part(house: TheHouse, person: Person, request: Request, part: Part, item: str = "") -> HTMLResponse:
    """Save one part of the sheet; an error is shown next to its field."""
    sent = await request.form()
    before = await _draft(house)
    try:
        new = forms.changed(part, before.orders if before else Orders(), sent, item)
        await sign_orders.draft(house.evening, new, by=person, source=SOURCE)
    except MidwatchError as error:
        return await answer(house, part, form=_wrong(part, error, forms.kept(sent), item), status=error.status)
    if before is None:
        return await answer(house, "body")
    saved = forms.Form("saved", item=part)
    return await answer(house, *(SHEET if part == "text" else ()), part, *FOLLOWING, "projects", form=saved)


def _wrong(part: str, error: MidwatchError, values: dict[str, object], item: str = "") -> forms.Form:
    by_field = getattr(error, "errors", {})
    known = {name: text for name, text in by_field.items() if name in values}
    place = forms.FIELD_OF[part]
    rest = {} if known else {place: forms.sentence(error)}
    return forms.Form(part, dict(values), known | rest, item=item or ("new" if part == "work" else ""))


@router.post("/tonight/orders/work/{item}/drop", dependencies=[Operates])
async def drop_work(house: TheHouse, person: Person, request: Request, item: str) -> HTMLResponse:
    """Remove a piece of work from tonight."""
    was = str((await request.form()).get("was", ""))
    await sign_orders.draft(house.evening, forms.without(await _orders(house), item, was), by=person, source=SOURCE)
    return await answer(house, "work", *FOLLOWING, "projects", form=forms.Form("saved", item="work"))


@router.post("/tonight/begin", dependencies=[Operates])
async def begin(house: TheHouse, person: Person, request: Request) -> HTMLResponse:
    """Save the first orders: what tonight is for, and perhaps a first piece of work."""
    sent = await request.form()
    try:
        await sign_orders.draft(house.evening, forms.begun(sent, await _orders(house)), by=person, source=SOURCE)
    except MidwatchError as error:
        return await answer(house, "body", form=_wrong("begin", error, forms.kept(sent)), status=error.status)
    return await answer(house, "body")


@router.post("/tonight/work/{item}/take", dependencies=[Operates])
async def take(house: TheHouse, person: Person, item: str) -> HTMLResponse:
    """Add a work item to tonight's orders."""
    row = await house.records.get(WorkRow, item)
    project = await house.records.get(ProjectRow, row.project)
    before = await _draft(house)
    orders = before.orders if before else forms.valid(Orders().model_dump(exclude={"limits"}))
    if not any((one.project, one.title) == (project.name, row.title) for one in orders.pieces()):
        work = (*orders.work, OrderedWork(project=project.name, title=row.title))
        await sign_orders.draft(house.evening, orders.model_copy(update={"work": work}), by=person, source=SOURCE)
    return await answer(house, *(("work", *FOLLOWING, "projects") if before else ("body",)))


@router.post("/tonight/start", dependencies=[Operates])
async def start(house: TheHouse, person: Person, request: Request) -> Response:
    """Sign exactly the sheet that was shown, start the night and go to the Live page."""
    sent = await request.form()
    shown = str(sent.get("shown", ""))
    try:
        if not await _may_rest(house, shown, str(sent.get("anyway", ""))):
            await looks.begin(house.evening, by=person, to_sign=True)
            return await answer(house, "head", "ready", "sign", form=forms.Form("signing", item=shown))
        await sign_orders.start(house.evening, by=person, shown=shown or "nothing")
    except MidwatchError as error:
        return await answer(
            house, "body", form=forms.Form("start", errors={"": forms.sentence(error)}), status=error.status
        )
    return Response(headers={"HX-Redirect": "/live"})


async def _may_rest(house: House, shown: str, anyway: str) -> bool:
    """Return whether a signature needs no preflight first; signing itself refuses a sheet that was not shown."""
    draft = await sign_orders.current_draft(house.records)
    return shown != sign_orders.orders_hash(draft.orders) or await looks.may_sign(house.evening, anyway=anyway)


@router.post("/tonight/ready", dependencies=[Operates])
async def look(house: TheHouse, person: Person) -> HTMLResponse:
    """Start a preflight."""
    await house.reload_settings()
    try:
        await looks.begin(house.evening, by=person)
    except MidwatchError as error:
        return await answer(
            house, "body", form=forms.Form("start", errors={"": forms.sentence(error)}), status=error.status
        )
    return await answer(house, "head", "ready", "sign")


@router.get("/tonight/ready", dependencies=[Reads])
async def looked(house: TheHouse, sign: str = "") -> HTMLResponse:
    """Show the lines so far; a pending signature is given once nothing is bad."""
    return await answer(
        house, "head", "ready", "sign", form=forms.Form("signing", item=sign) if sign else None, unasked=True
    )
