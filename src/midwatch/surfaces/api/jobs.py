"""What changes jobs, their checkouts and pull requests. Reading is in `surfaces/queries/jobs.py`."""

from datetime import datetime
from pathlib import Path

from fastapi import APIRouter

from midwatch.compose import shells
from midwatch.morning import pull_requests
from midwatch.night.commands import steering
from midwatch.surfaces.api.access import Operates, Person, Reads, TheHouse
from midwatch.surfaces.api.day import Shown, shown
from midwatch.surfaces.api.night import Why
from midwatch.terms.records import JobRow, PullRequestRow
from midwatch.terms.term import Term

router = APIRouter()


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
    await steering.stop_job(house.books, house.workshop.rooms, row, by=person, why=why.text or f"stopped by {person}")
    return await house.records.get(JobRow, row.id)


@router.post("/jobs/{name}/resume", dependencies=[Operates])
async def job_resume(house: TheHouse, person: Person, name: str) -> JobRow:
    """Resume a failed or stopped job, as a new job in its checkout."""
    row = await house.records.get(JobRow, name)
    await shells.refuse_while_entered(house.home, row.id, row.number)
    return await steering.resume_job(house.books, row, by=person)


class Discarding(Term):
    """Whether work that exists only there may be lost."""

    force: bool = False


@router.post("/jobs/{name}/discard", dependencies=[Operates], response_model=CheckoutsDiscarded)
async def job_discard(house: TheHouse, person: Person, name: str, how: Discarding) -> Shown:
    """Delete a job's checkouts; refused where work would be lost, unless forced."""
    row = await house.records.get(JobRow, name)
    await shells.refuse_while_entered(house.home, row.id, row.number)
    freed = await steering.discard(house.journal, house.workshop.upkeep, row, by=person, force=how.force)
    return {"job": row.id, "number": row.number, "freed_bytes": freed}


@router.post("/jobs/{name}/close", dependencies=[Operates])
async def job_close(house: TheHouse, person: Person, name: str, why: Why) -> PullRequestRow:
    """Close a job's pull request without merging it."""
    await house.look_here()
    row = await house.records.get(JobRow, name)
    return await pull_requests.close(house.books, house.forges, row, by=person, why=why.text)


@router.post("/jobs/{name}/merge", dependencies=[Operates])
async def job_merge(house: TheHouse, person: Person, name: str) -> PullRequestRow:
    """Merge a job's pull request; only a person may, and not what a person rejected."""
    row = await house.records.get(JobRow, name)
    return await pull_requests.merge(house.books, house.forges, row, by=person)


@router.post("/jobs/{name}/unmerge", dependencies=[Operates])
async def job_unmerge(house: TheHouse, person: Person, name: str) -> PullRequestRow:
    """Take back the merge of a job's pull request, if its branch has not moved since."""
    row = await house.records.get(JobRow, name)
    return await pull_requests.unmerge(house.books, house.forges, row, by=person)
