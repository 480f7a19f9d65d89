"""The page of one job: its state, its plan, its changes so far, and its log as it grows."""

import re
from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import HTMLResponse, StreamingResponse
from markupsafe import Markup

from midwatch.compose.house import House
from midwatch.errors import MidwatchError
from midwatch.journal.entry import Entry
from midwatch.night.commands import steering
from midwatch.surfaces.api.access import Operates, Person, Reads, TheHouse
from midwatch.surfaces.queries.agent_streams import keep, newest, stream_at
from midwatch.surfaces.queries.asks import shown_asks
from midwatch.surfaces.queries.job_lines import lines_of
from midwatch.surfaces.queries.names import names_of
from midwatch.surfaces.web.pages.job_agent import errands
from midwatch.surfaces.web.pages.job_log import follow, raw_from, raw_tail, stream_from, stream_html
from midwatch.surfaces.web.pages.morning import pull_and_stacks
from midwatch.surfaces.web.site.diffs import diff_html
from midwatch.surfaces.web.site.page import fragment, page
from midwatch.terms import records as rec
from midwatch.terms.asks import AskState
from midwatch.views.entries.tags import PHASES
from midwatch.views.pages.job_story import STORY
from midwatch.views.pages.live.jobs import job_shown
from midwatch.views.pages.live.night import feed_rows
from midwatch.views.pages.live.open_asks import plan_shown
from midwatch.views.pages.plan_versions import versions_shown
from midwatch.views.pages.steps import steps_shown
from midwatch.views.pages.walls import connections_shown, reach_of
from midwatch.views.text.plain import clean
from midwatch.views.text.proof import proof_lines

router = APIRouter()
APART = ("connection.seen", "model.called", "tool_call.decided", "fuel.read")
"""Have their own part of a page; among the milestones a thousand of them would hide the rest."""
ABOUT = tuple(sorted({kind for kind, phase in PHASES.items() if phase in {"job", "ask"}} - {*APART} | {"act.judged"}))
WATCHED = ("connection.seen", *STORY)
MOST_STONES = 200
PLACE = re.compile(r"^\d{0,19}(\.\d{1,19})?$")
"""A place in a stream, or in a raw log."""
STREAMED = {"cache-control": "no-store", "x-accel-buffering": "no"}


@router.get("/jobs/{name}", dependencies=[Reads])
async def one_job(request: Request, house: TheHouse, name: str, *, raw: bool = False) -> HTMLResponse:
    """Show one job."""
    row = await house.records.get(rec.JobRow, name)
    place, log = await _log(house, row, raw=raw)
    return page(request, "job.html", here="Live", log=log, place=place, raw=raw, **await _shown(house, row))


async def _log(house: House, row: rec.JobRow, *, raw: bool) -> tuple[str, Markup]:
    if raw:
        upto, tail = raw_tail(house.workshop.rooms.log(row.id, "agent"))
        return str(upto), tail
    lines, reader = await newest(house, row)
    keep(reader, house, row)
    return reader.at, stream_html(lines)


@router.get("/jobs/{name}/now", dependencies=[Reads])
async def job_now(house: TheHouse, name: str) -> HTMLResponse:
    """Draw everything but the log again."""
    row = await house.records.get(rec.JobRow, name)
    return HTMLResponse(fragment("_job_now.html", **await _shown(house, row)))


@router.post("/jobs/{name}/stop", dependencies=[Operates])
async def stop(house: TheHouse, person: Person, name: str) -> HTMLResponse:
    """Stop a job; its work is kept."""
    row = await house.records.get(rec.JobRow, name)
    await steering.stop_job(house.books, house.workshop.rooms, row, by=person, why=f"stopped by {person}")
    return await job_now(house, row.id)


@router.get("/jobs/{name}/log/stream", dependencies=[Reads])
async def log_stream(
    house: TheHouse,
    request: Request,
    name: str,
    *,
    after: Annotated[str, Query(pattern=PLACE.pattern, max_length=40)] = "",
    raw: bool = False,
    last_event_id: Annotated[str, Header()] = "",
) -> StreamingResponse:
    """Follow what the agent does, or its raw log, from a place until the job ends."""
    row = await house.records.get(rec.JobRow, name)
    resumed = last_event_id if last_event_id and PLACE.fullmatch(last_event_id) else after
    if raw:
        more = raw_from(house.workshop.rooms.log(row.id, "agent"), int(resumed.partition(".")[0] or 0))
    else:
        more = stream_from(await stream_at(house, row, resumed))
    seen = Doings(house, row.id, await house.records.head())

    async def standing() -> tuple[str, bool]:
        now = await house.records.get(rec.JobRow, row.id)
        at = await house.workshop.rooms.head_so_far(row.id, now.epoch)
        did = await seen.count()
        asked = [one.number for one in await house.records.find(rec.AskRow, subject=row.id, state=AskState.OPEN)]
        return f"{now.state} {now.stage} {now.diff_blob} {now.plan_hash} {at} {did} {asked}", now.state.over

    following = follow(more, standing, request.state.still)
    return StreamingResponse(following, media_type="text/event-stream", headers=STREAMED)


class Doings:
    """Counts what a job's agents do as it happens, reading each entry once."""

    def __init__(self, house: House, job: str, after: int) -> None:
        self._house, self._job, self._after = house, job, after
        self._many = 0

    async def count(self) -> int:
        """Return how many were seen since the count began."""
        while page := await self._house.journal.entries(after=self._after, limit=1000, kinds=WATCHED):
            self._after = page[-1].seq
            self._many += sum(getattr(one.event, "job", "") == self._job for one in page)
        return self._many


async def _shown(house: House, row: rec.JobRow) -> dict[str, Any]:
    await house.look_here()
    project = await house.records.find(rec.ProjectRow, id=row.project)
    runs = await house.records.find(rec.RunRow, id=row.run)
    delivered = [
        await pull_and_stacks(house, row, one) for one in await house.records.find(rec.PullRequestRow, job=row.id)
    ]
    lines = await lines_of(house, [row])
    return {
        "job": job_shown(row, project[0] if project else None, house.clock.now(), lines[row.id]),
        "row": row,
        "approved_by": clean(row.approved_by, 60),
        "plan": plan_shown(row),
        "proof": proof_lines(row.proof) if row.proof else (),
        "asks": await shown_asks(house, await house.records.find(rec.AskRow, subject=row.id, state=AskState.OPEN)),
        "versions": versions_shown(await house.records.find(rec.PlanRow, job=row.id)),
        "steps": steps_shown(await house.records.find(rec.StepRow, job=row.id), house.clock.now()),
        "pulls": [pull for pull, _ in delivered],
        "stacks": [stack for _, found in delivered[-1:] for stack in found if len(stack.steps) > 1],
        "stones": await _milestones(house, row),
        "diff": await _diff(house, row),
        "errands": await errands(house, row),
        "reach": reach_of(row, runs[0].contract if runs else None, house.loaded.settings.sandbox.domains),
        "tried": connections_shown(await house.records.find(rec.ConnectionRow, job=row.id)),
    }


async def _diff(house: House, row: rec.JobRow) -> Markup:
    if row.diff_blob:
        return diff_html((await house.blobs.fetch(row.diff_blob)).decode(errors="replace"))
    so_far = "" if row.state.over else await _so_far(house, row)
    return diff_html(so_far) if so_far else Markup()


async def _so_far(house: House, row: rec.JobRow) -> str:
    """Show what is committed while the agent still works; nothing if there is nothing yet."""
    try:
        diff = await house.workshop.rooms.diff_so_far(row.id, row.epoch, row.repository.head) if row.repository else ""
        return house.redactor.redact(diff)
    except MidwatchError:
        return ""


async def _milestones(house: House, row: rec.JobRow) -> tuple[Any, ...]:
    """List the job's own entries, newest first."""
    acts = await house.records.find(rec.ActRow, id=row.act) if row.act else ()
    asks = await house.records.find(rec.AskRow, subject=row.id)
    pulls = await house.records.find(rec.PullRequestRow, job=row.id)
    own = {row.id, row.act, *(one.id for one in asks), *(one.id for one in pulls)} - {""}
    found = await house.history.about(own, ABOUT, after=acts[0].judged_seq - 1 if acts else 0)
    shown = about(found, row)[-MOST_STONES:]
    return feed_rows(shown, await names_of(house, shown))


def about(entries: Iterable[Entry], row: rec.JobRow) -> list[Entry]:
    """Pick the entries that name the job, its act, its asks or its pull requests."""
    own = {row.id, row.act} - {""}
    picked: list[Entry] = []
    for entry in entries:
        event = entry.event
        subject = getattr(getattr(event, "draft", None), "subject", "")
        named = {str(getattr(event, field, "")) for field in ("job", "act", "ask", "pull_request")}
        if subject in own or named & own:
            picked.append(entry)
            own |= {str(getattr(event, field, "")) for field in ("ask", "pull_request")} - {""}
    return picked
