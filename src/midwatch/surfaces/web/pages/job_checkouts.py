"""What an ended job left on disk: where it is, what exists only there, and what a person can do with it."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from midwatch.compose import shells
from midwatch.compose.house import House
from midwatch.errors import MidwatchError, Refused
from midwatch.night.commands import steering
from midwatch.surfaces.api.access import Operates, Person, Reads, TheHouse
from midwatch.surfaces.web.site.page import fragment
from midwatch.terms.figures import size
from midwatch.terms.jobs import JobState
from midwatch.terms.projects import SessionState
from midwatch.terms.records import JobRow, SessionRow
from midwatch.views.text.plain import clean

router = APIRouter(include_in_schema=False)
LOSING = "Nothing was discarded: it holds work that exists only there. Tick the box if that may be lost."


@router.get("/jobs/{name}/kept", dependencies=[Reads])
async def kept(house: TheHouse, name: str) -> HTMLResponse:
    """Show what a job left; reading it takes a moment, so the page requests it separately."""
    row = await house.records.get(JobRow, name)
    return HTMLResponse(fragment("_kept.html", **await _shown(house, row)))


@router.post("/jobs/{name}/resume", dependencies=[Operates])
async def resume(house: TheHouse, person: Person, name: str) -> HTMLResponse:
    """Resume it as a new job, and go to that job's page."""
    row = await house.records.get(JobRow, name)
    await shells.refuse_while_entered(house.home, row.id, row.number)
    new = await steering.resume_job(house.books, row, by=person)
    return HTMLResponse("", headers={"hx-redirect": f"/jobs/{new.number}"})


@router.post("/jobs/{name}/discard", dependencies=[Operates])
async def discard(request: Request, house: TheHouse, person: Person, name: str) -> HTMLResponse:
    """Delete it; if that is refused, say beside the button what would be lost."""
    row = await house.records.get(JobRow, name)
    force = (await request.form()).get("force", "") == "yes"
    try:
        await shells.refuse_while_entered(house.home, row.id, row.number)
        freed = await steering.discard(house.journal, house.workshop.upkeep, row, by=person, force=force)
    except Refused as refused:
        shown = await _shown(house, row)
        if not shown["kept"]:
            raise
        said = LOSING if refused.because else refused.message
        return HTMLResponse(fragment("_kept.html", **shown | {"refused": said}), status_code=refused.status)
    said = f"It was deleted; {size(freed)} freed. What was delivered stays on its branch."
    return HTMLResponse(fragment("_kept.html", id=row.id, number=row.number, kept=None, said=said, refused=""))


async def _shown(house: House, row: JobRow) -> dict[str, Any]:
    shown = {"id": row.id, "number": row.number, "kept": None, "said": "", "refused": ""}
    if not row.state.over:
        return shown
    try:
        standing = await house.workshop.upkeep.standing(row.id)
    except MidwatchError as error:
        return shown | {"said": clean(error.message, 400)}
    if not standing:
        return shown
    unique = dict.fromkeys(clean(one) for attempt in standing for one in attempt.unique)
    left = {
        "path": clean(f"{standing[-1].path}/tree", 1000),
        "size": size(sum(one.bytes for one in standing)),
        "unique": tuple(unique),
        "resumes": await _resumes(house, row),
    }
    return shown | {"kept": left}


async def _resumes(house: House, row: JobRow) -> bool:
    """Whether there is something to resume, in a night that still runs."""
    if row.state is JobState.DONE or await house.records.find(JobRow, retry_of=row.id):
        return False
    session = await house.records.get(SessionRow, row.session)
    return session.state is SessionState.AUTONOMOUS
