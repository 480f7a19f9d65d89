"""Routes of the work itself: jobs with their logs and diffs, and the pull requests they opened."""

import asyncio
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from midwatch.errors import Unknown
from midwatch.night import commands
from midwatch.surfaces.api.access import Operates, Person, Reads, TheHouse
from midwatch.surfaces.api.day import Shown, shown
from midwatch.surfaces.api.night import Why
from midwatch.surfaces.api.paging import ThePage
from midwatch.terms.records import JobRow, PullRequestRow
from midwatch.views.plain import harmless

router = APIRouter()


@router.get("/jobs", dependencies=[Reads])
async def jobs(house: TheHouse, page: ThePage) -> list[Shown]:
    """List the jobs."""
    return [shown(row) for row in page.of(await house.records.find(JobRow))]


@router.get("/jobs/{name}", dependencies=[Reads])
async def job(house: TheHouse, name: str) -> Shown:
    """Show one job whole."""
    row = await house.records.get(JobRow, name)
    pull_requests = await house.records.find(PullRequestRow, job=row.id)
    return shown(row) | {"pull_requests": [shown(one) for one in pull_requests]}


@router.get("/jobs/{name}/log", dependencies=[Reads], response_class=PlainTextResponse)
async def job_log(house: TheHouse, name: str) -> PlainTextResponse:
    """Read the agent's own log."""
    row = await house.records.get(JobRow, name)
    path = house.bench.log(row.id, "agent")
    return PlainTextResponse(await asyncio.to_thread(_read, path))


def _read(path: Path) -> str:
    """A log is for eyes, in a browser or a terminal; the file itself has every byte."""
    return harmless(path.read_text(errors="replace")) if path.exists() else ""


@router.get("/jobs/{name}/diff", dependencies=[Reads], response_class=PlainTextResponse)
async def job_diff(house: TheHouse, name: str) -> PlainTextResponse:
    """Read what the job changed."""
    row = await house.records.get(JobRow, name)
    if not row.diff_blob:
        raise Unknown(f"Job {row.number} has no diff: {row.why or row.stage.value}.")
    return PlainTextResponse((await house.blobs.fetch(row.diff_blob)).decode(errors="replace"))


@router.post("/jobs/{name}/stop", dependencies=[Operates])
async def job_stop(house: TheHouse, person: Person, name: str, why: Why) -> Shown:
    """Stop a job; its work is kept."""
    row = await house.records.get(JobRow, name)
    await commands.stop_job(house.night, row, by=person, why=why.text or f"stopped by {person}")
    return shown(await house.records.get(JobRow, row.id))


@router.post("/jobs/{name}/close", dependencies=[Operates])
async def job_close(house: TheHouse, person: Person, name: str, why: Why) -> Shown:
    """Close a job's pull request without merging it."""
    row = await house.records.get(JobRow, name)
    return shown(await commands.close(house.night, row, by=person, why=why.text))


@router.post("/jobs/{name}/merge", dependencies=[Operates])
async def job_merge(house: TheHouse, person: Person, name: str) -> Shown:
    """Merge a job's pull request: a person's act, always."""
    row = await house.records.get(JobRow, name)
    merged = await commands.merge(house.night, house.forge, row, by=person)
    return shown(merged)


@router.get("/pull_requests", dependencies=[Reads])
async def pull_requests(house: TheHouse, page: ThePage) -> list[Shown]:
    """List what was delivered."""
    return [shown(row) for row in page.of(await house.records.find(PullRequestRow))]
