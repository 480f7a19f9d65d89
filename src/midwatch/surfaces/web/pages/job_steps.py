"""The page of one step of a job: the attempt, its result, and every entry in between."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse

from midwatch.compose.house import House
from midwatch.errors import Unknown
from midwatch.journal.entry import Entry
from midwatch.journal.events.jobs import JobPlanned, JobVerified, PullRequestOpened
from midwatch.surfaces.api.access import Reads, TheHouse
from midwatch.surfaces.queries.names import names_of
from midwatch.surfaces.web.site.diffs import diff_html
from midwatch.surfaces.web.site.page import page
from midwatch.terms.jobs import Stage
from midwatch.terms.records import JobRow, StepRow
from midwatch.views.entries.tags import PHASES
from midwatch.views.pages.live.night import feed_rows
from midwatch.views.pages.live.open_asks import harmless_plan
from midwatch.views.pages.steps import step_shown, steps_shown

router = APIRouter()
Number = Annotated[int, Path(ge=1, le=2**31)]
KINDS = tuple(sorted(kind for kind, phase in PHASES.items() if phase == "job"))
MOST = 1000


@router.get("/jobs/{name}/steps/{number}", dependencies=[Reads])
async def one_step(request: Request, house: TheHouse, name: str, number: Number) -> HTMLResponse:
    """Show one step."""
    job = await house.records.get(JobRow, name)
    rows = sorted(await house.records.find(StepRow, job=job.id), key=lambda row: row.number)
    if number > len(rows):
        raise Unknown(f"Job {job.number} has no step {number}.", hint=f"It has {len(rows)}: /jobs/{job.number}")
    row, now = rows[number - 1], house.clock.now()
    entries = await _entries(house, job, row)
    return page(
        request,
        "step.html",
        here="Live",
        job=job,
        step=step_shown(row, now),
        steps=steps_shown(rows, now),
        stones=feed_rows(entries, await names_of(house, entries)),
        **await _came_of_it(house, job, row, entries),
    )


async def _entries(house: House, job: JobRow, row: StepRow) -> list[Entry]:
    """Collect the job's entries between the beginning and the end of the step."""
    found = await house.history.about([job.id], KINDS, after=row.began_seq - 1, upto=row.ended_seq)
    return [one for one in found if getattr(one.event, "job", "") == job.id][-MOST:]


async def _came_of_it(house: House, job: JobRow, row: StepRow, entries: list[Entry]) -> dict[str, Any]:
    """Select what the stage is about: a plan, a diff, checks, a pull request."""
    events = {type(one.event): one.event for one in entries}
    planned, verified, opened = (events.get(kind) for kind in (JobPlanned, JobVerified, PullRequestOpened))
    diff = ""
    if row.stage is Stage.QUARANTINE and row.state == "done" and job.diff_blob:
        diff = diff_html((await house.blobs.fetch(job.diff_blob)).decode(errors="replace"))
    return {
        "plan": harmless_plan(planned.plan) if isinstance(planned, JobPlanned) else None,
        "proof": verified.proof if isinstance(verified, JobVerified) else None,
        "opened": opened,
        "diff": diff,
    }
