"""The page Tonight: the orders as one sheet to sign, what prevents signing, and what is ready."""

from typing import Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from midwatch.compose.house import House
from midwatch.errors import MidwatchError, Stale, Unknown
from midwatch.evening import preflight as looks
from midwatch.evening import sign_orders, signing
from midwatch.evening.orders_file import EXAMPLE
from midwatch.settings import parse_value
from midwatch.surfaces import settings_changes
from midwatch.surfaces.api.access import Governs, Operates, Person, Reads, TheCaller, TheHouse
from midwatch.surfaces.queries import preflights
from midwatch.surfaces.web.pages import tonight_forms as forms
from midwatch.surfaces.web.pages import tonight_projects
from midwatch.surfaces.web.pages.tonight_facts import seen
from midwatch.surfaces.web.pages.tonight_regions import SHEET, ThePage, answer, followed, polled, refused, unsaved
from midwatch.surfaces.web.site.page import page
from midwatch.terms.orders import OrderedWork, Orders
from midwatch.terms.projects import SessionState
from midwatch.terms.records import ProjectRow, SessionRow, WorkRow

router = APIRouter(include_in_schema=False)


@router.get("/tonight", dependencies=[Reads])
async def tonight(house: TheHouse, request: Request) -> HTMLResponse:
    """Show the sheet first, then what blocks it, then the rest."""
    return page(request, "tonight.html", here="Tonight", form=None, **await seen(house))


router.include_router(tonight_projects.router)


Part = Literal["goals", "work", "limits", "permissions", "text"]
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
async def change_part(
    house: TheHouse, person: Person, request: Request, on: ThePage, part: Part, item: str = ""
) -> HTMLResponse:
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
    saved, whole = forms.Form("saved", item=part), SHEET if part == "text" else ()
    return await followed(house, on, *whole, part, "projects", form=saved)


def _wrong(part: str, error: MidwatchError, values: dict[str, object], item: str = "") -> forms.Form:
    by_field = getattr(error, "errors", {})
    known = {name: text for name, text in by_field.items() if name in values}
    place = forms.FIELD_OF[part]
    rest = {} if known else {place: forms.sentence(error)}
    return forms.Form(part, dict(values), known | rest, item=item or ("new" if part == "work" else ""))


@router.post("/tonight/orders/work/{item}/drop", dependencies=[Operates])
async def drop_work(house: TheHouse, person: Person, request: Request, on: ThePage, item: str) -> HTMLResponse:
    """Remove a piece of work from tonight."""
    was, before = str((await request.form()).get("was", "")), await _draft(house)
    left = forms.without(before.orders if before else Orders(), item, was)
    await sign_orders.draft(house.evening, left, by=person, source=SOURCE)
    return await followed(house, on, "work", "projects", form=forms.Form("saved", item="work"))


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
async def take(house: TheHouse, person: Person, on: ThePage, item: str) -> HTMLResponse:
    """Add a work item to tonight's orders."""
    row = await house.records.get(WorkRow, item)
    project = await house.records.get(ProjectRow, row.project)
    before = await _draft(house)
    orders = before.orders if before else Orders()
    if not any((one.project, one.title) == (project.name, row.title) for one in orders.pieces()):
        work = (*orders.work, OrderedWork(project=project.name, title=row.title))
        await sign_orders.draft(house.evening, orders.model_copy(update={"work": work}), by=person, source=SOURCE)
    if before is None:
        return await answer(house, "body")
    return await followed(house, on, "work", "projects")


@router.get("/tonight/sheet", dependencies=[Reads])
async def sheet(house: TheHouse, on: ThePage) -> HTMLResponse:
    """Show the whole sheet as it is now; what is open for changes stays as it is typed."""
    return await followed(house, on)


@router.post("/tonight/start", dependencies=[Operates])
async def start(house: TheHouse, caller: TheCaller, request: Request, on: ThePage) -> Response:
    """Sign exactly the sheet that was shown; the server gives the signature once everything is ready (N25)."""
    anyway = str((await request.form()).get("anyway", ""))
    try:
        forms.refuse_unsaved(on.open)
        signed = await signing.sign(
            house.evening, by=caller.name, shown=on.shown or "nothing", anyway=anyway, capped=caller.capped
        )
    except forms.Unsaved as error:
        return await unsaved(house, on, _unsigned(error), error.status)
    except MidwatchError as error:
        return await refused(house, on, _unsigned(error), error.status)
    if signed.signed_by:
        return Response(headers={"HX-Redirect": "/live"})
    return await answer(house, "head", "ready", "sign")


def _unsigned(error: MidwatchError) -> forms.Form:
    return forms.Form("start", {"changes": error.because[1:]}, {"": forms.sentence(error)})


@router.post("/tonight/start/cancel", dependencies=[Operates])
async def take_back(house: TheHouse, person: Person, on: ThePage) -> HTMLResponse:
    """Take back a signature that waits for the preflight."""
    await signing.take_back(house.books, by=person)
    return await polled(house, on)


@router.post("/tonight/ready", dependencies=[Operates])
async def look(house: TheHouse, person: Person, on: ThePage) -> HTMLResponse:
    """Start a preflight."""
    await house.reload_settings()
    try:
        await looks.begin(house.evening, by=person)
    except MidwatchError as error:
        return await refused(house, on, _unsigned(error), error.status)
    return await followed(house, on)


@router.post("/tonight/ready/setting", dependencies=[Governs])
async def set_named(house: TheHouse, caller: TheCaller, request: Request, on: ThePage) -> HTMLResponse:
    """Change a setting that the preflight names, as it was shown, and check again."""
    sent = await request.form()
    await house.reload_settings()
    try:
        row, _ = await looks.standing(house.books)
        named = await preflights.settings_wanted(house, row) if row else ()
        key, value = str(sent.get("key", "")), str(sent.get("value", ""))
        if not any((one.key, one.new, one.on_page) == (key, value, True) for one in named):
            raise Stale(
                "This setting cannot be changed here.", hint="On the machine: midwatch settings propose --apply"
            )
        changes = {key: parse_value(key, value)}
        proposal, _ = await settings_changes.proposed(house, changes, by=caller, note="named by the preflight")
        await settings_changes.applied(house, proposal.id, by=caller)
        await looks.begin(house.evening, by=caller.name)
    except MidwatchError as error:
        return await refused(house, on, _unsigned(error), error.status)
    return await followed(house, on)


@router.get("/tonight/ready", dependencies=[Reads])
async def looked(house: TheHouse, on: ThePage) -> Response:
    """Show the lines so far; when the night has begun, a page with nothing unsaved follows it."""
    if not on.open and await house.records.find(SessionRow, state=SessionState.AUTONOMOUS, ad_hoc=False):
        return Response(headers={"HX-Redirect": "/live"})
    return await polled(house, on)
