"""Routes about jobs, with their logs and diffs, and the pull requests they opened."""

import asyncio
import time
from datetime import datetime
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi import Path as InPath
from fastapi.responses import PlainTextResponse

from midwatch.compose import House, shells
from midwatch.errors import Unknown
from midwatch.journal.events.signals import MilestoneReached
from midwatch.night.commands import steering
from midwatch.surfaces.api.access import Operates, Person, Reads, TheHouse
from midwatch.surfaces.api.day import Shown, shown
from midwatch.surfaces.api.night import LONGEST_WAIT, Why
from midwatch.surfaces.api.paging import ThePage
from midwatch.surfaces.queries.job_lines import lines_of
from midwatch.surfaces.queries.job_stories import prompt_of, story_of
from midwatch.surfaces.queries.logs import read_on
from midwatch.terms.records import ConnectionRow, JobRow, PlanRow, PullRequestRow, SignalRow, StepRow
from midwatch.terms.term import Term
from midwatch.views.pages.job_line import JobLine
from midwatch.views.pages.job_story import ErrandDone
from midwatch.views.pages.plan_versions import PlanVersion, versions_shown
from midwatch.views.pages.steps import StepShown, steps_shown
from midwatch.views.text.plain import clean, harmless

router = APIRouter()
NEXT, OVER = "midwatch-next", "midwatch-over"
"""Where to continue reading a log, and whether more can follow."""
LOOK_SECONDS = 0.3
Offset = Annotated[int | None, Query(alias="from", ge=0, le=2**62, description="Whole lines from this byte on.")]
Epoch = Annotated[int, InPath(ge=0, le=2**31, description="The epoch of the agent run, as in /errands.")]
Wait = Annotated[float, Query(ge=0, description="Seconds to wait for more, if there is none yet.")]


class JobWhole(JobRow):
    """A job with its line, pull requests, signals and milestones."""

    pull_requests: tuple[PullRequestRow, ...]
    line: JobLine
    signals: tuple[SignalRow, ...]
    milestones: tuple[str, ...]


class CheckoutShown(Term):
    """A checkout that is kept on disk, and what exists only there."""

    job: str
    epoch: int
    path: str
    bytes: int
    changed_at: datetime
    head: str
    unique: tuple[str, ...]
    tree: str
    branch: str


class CheckoutsDiscarded(Term):
    """How much disk space was freed."""

    job: str
    number: int
    freed_bytes: int


@router.get("/jobs", dependencies=[Reads])
async def jobs(house: TheHouse, page: ThePage) -> list[JobRow]:
    """List the jobs."""
    return list(page.of(await house.records.find(JobRow)))


@router.get("/jobs/{name}", dependencies=[Reads], response_model=JobWhole)
async def job(house: TheHouse, name: str) -> Shown:
    """Show one job with its pull requests, signals and milestones."""
    row = await house.records.get(JobRow, name)
    pull_requests = await house.records.find(PullRequestRow, job=row.id)
    line = (await lines_of(house, [row]))[row.id]
    more = {"pull_requests": [shown(one) for one in pull_requests], "line": line}
    signals = sorted(await house.records.find(SignalRow, job=row.id), key=lambda one: one.number)
    return shown(row) | more | {"signals": [shown(one) for one in signals], "milestones": await _stones(house, row.id)}


async def _stones(house: House, job: str) -> list[str]:
    """Return the milestones of a job, oldest first."""
    entries = await house.history.about([job], ("milestone.reached",))
    events = [one.event for one in entries if isinstance(one.event, MilestoneReached)]
    return [clean(event.text, 300) for event in events if event.job == job]


@router.get("/jobs/{name}/log", dependencies=[Reads], response_class=PlainTextResponse)
async def job_log(house: TheHouse, name: str, offset: Offset = None, wait: Wait = 0) -> PlainTextResponse:
    """Read the agent's own log; with `from`, only what follows. The header `midwatch-next` says where to continue."""
    row = await house.records.get(JobRow, name)
    path = house.workshop.rooms.log(row.id, "agent")
    if offset is None:
        size = path.stat().st_size if path.exists() else 0
        return PlainTextResponse(await asyncio.to_thread(_read, path), headers=_headers(size, over=row.state.over))
    upto, text, over = await _more(house, row.id, offset, min(wait, LONGEST_WAIT))
    return PlainTextResponse(harmless(text), headers=_headers(upto, over=over))


def _headers(upto: int, *, over: bool) -> dict[str, str]:
    return {NEXT: str(upto), OVER: "yes" if over else "no"}


def _read(path: Path) -> str:
    """A log is shown in a browser or a terminal, so it is made harmless; the file itself has every byte."""
    return harmless(path.read_text(errors="replace")) if path.exists() else ""


async def _more(house: House, job: str, place: int, patience: float) -> tuple[int, str, bool]:
    """Continue reading, and wait a while for more; over means that all of it was read."""
    path, until = house.workshop.rooms.log(job, "agent"), time.monotonic() + patience
    while True:
        over = (await house.records.get(JobRow, job)).state.over  # asked first: an ended job's log is complete
        upto, text = await asyncio.to_thread(read_on, path, place, ended=over)
        if upto != place or over or time.monotonic() >= until:
            return upto, text, over and upto == place
        await asyncio.sleep(LOOK_SECONDS)


@router.get("/jobs/{name}/diff", dependencies=[Reads], response_class=PlainTextResponse)
async def job_diff(house: TheHouse, name: str) -> PlainTextResponse:
    """Read what the job changed."""
    row = await house.records.get(JobRow, name)
    if not row.diff_blob:
        raise Unknown(f"Job {row.number} has no diff: {row.why or row.stage.value}.")
    return PlainTextResponse((await house.blobs.fetch(row.diff_blob)).decode(errors="replace"))


@router.get("/jobs/{name}/steps", dependencies=[Reads])
async def job_steps(house: TheHouse, name: str) -> list[StepShown]:
    """List each attempt at each stage of the job, in the order they began."""
    row = await house.records.get(JobRow, name)
    return list(steps_shown(await house.records.find(StepRow, job=row.id), house.clock.now()))


@router.get("/jobs/{name}/plans", dependencies=[Reads])
async def job_plans(house: TheHouse, name: str) -> list[PlanVersion]:
    """List every version of the job's plan, with its outcome and what changed."""
    row = await house.records.get(JobRow, name)
    return list(versions_shown(await house.records.find(PlanRow, job=row.id)))


@router.get("/jobs/{name}/errands", dependencies=[Reads])
async def job_errands(house: TheHouse, name: str) -> list[ErrandDone]:
    """List what the job's agents did: each agent run with its cost, every tool call with its verdict, how it ended."""
    row = await house.records.get(JobRow, name)
    return list(await story_of(house, row))


@router.get("/jobs/{name}/told/{epoch}", dependencies=[Reads], response_class=PlainTextResponse)
async def job_told(house: TheHouse, name: str, epoch: Epoch) -> PlainTextResponse:
    """Read the full prompt of one agent run."""
    return PlainTextResponse(await prompt_of(house, await house.records.get(JobRow, name), epoch))


@router.get("/jobs/{name}/connections", dependencies=[Reads])
async def job_connections(house: TheHouse, page: ThePage, name: str) -> list[ConnectionRow]:
    """List what the job reached or tried to reach, oldest first."""
    row = await house.records.get(JobRow, name)
    found = sorted(await house.records.find(ConnectionRow, job=row.id), key=_seq)
    return list(page.by(found, _seq))


def _seq(row: ConnectionRow) -> int:
    return int(row.id)


@router.get("/jobs/{name}/checkouts", dependencies=[Reads], response_model=list[CheckoutShown])
async def job_checkouts(house: TheHouse, name: str) -> list[Shown]:
    """List the checkouts the job left on disk, and what exists only in each."""
    row = await house.records.get(JobRow, name)
    return [_checkout(shown(kept)) for kept in await house.workshop.upkeep.standing(row.id)]


def _checkout(kept: Shown) -> Shown:
    tree = Path(kept["path"]) / "tree"
    return kept | {"tree": str(tree), "branch": shells.branch_of(tree)}


@router.post("/jobs/{name}/stop", dependencies=[Operates])
async def job_stop(house: TheHouse, person: Person, name: str, why: Why) -> JobRow:
    """Stop a job; its work is kept."""
    row = await house.records.get(JobRow, name)
    await steering.stop_job(house.night, row, by=person, why=why.text or f"stopped by {person}")
    return await house.records.get(JobRow, row.id)


@router.post("/jobs/{name}/resume", dependencies=[Operates])
async def job_resume(house: TheHouse, person: Person, name: str) -> JobRow:
    """Resume a failed or stopped job, as a new job in its checkout."""
    row = await house.records.get(JobRow, name)
    await shells.refuse_while_entered(house.home, row.id, row.number)
    return await steering.resume_job(house.night, row, by=person)


class Discarding(Term):
    """Whether work that exists only there may be lost."""

    force: bool = False


@router.post("/jobs/{name}/discard", dependencies=[Operates], response_model=CheckoutsDiscarded)
async def job_discard(house: TheHouse, person: Person, name: str, how: Discarding) -> Shown:
    """Delete a job's checkouts; refused where work would be lost, unless forced."""
    row = await house.records.get(JobRow, name)
    await shells.refuse_while_entered(house.home, row.id, row.number)
    freed = await steering.discard(house.night, row, by=person, force=how.force)
    return {"job": row.id, "number": row.number, "freed_bytes": freed}


@router.post("/jobs/{name}/close", dependencies=[Operates])
async def job_close(house: TheHouse, person: Person, name: str, why: Why) -> PullRequestRow:
    """Close a job's pull request without merging it."""
    row = await house.records.get(JobRow, name)
    return await steering.close(house.night, row, by=person, why=why.text)


@router.post("/jobs/{name}/merge", dependencies=[Operates])
async def job_merge(house: TheHouse, person: Person, name: str) -> PullRequestRow:
    """Merge a job's pull request; only a person may."""
    row = await house.records.get(JobRow, name)
    return await steering.merge(house.night, row, by=person)


@router.get("/pull_requests", dependencies=[Reads])
async def pull_requests(house: TheHouse, page: ThePage) -> list[PullRequestRow]:
    """List the pull requests."""
    return list(page.of(await house.records.find(PullRequestRow)))
