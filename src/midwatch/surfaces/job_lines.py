"""Fetches what a job's line is made of: its contract, the end of its night, and when its attempt was taken up."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from midwatch.compose import House
from midwatch.journal.entry import Entry
from midwatch.journal.events.jobs import JobClaimed
from midwatch.terms.jobs import JobState
from midwatch.terms.records import ActRow, JobRow, RunRow, SessionRow
from midwatch.views.job_line import JobLine, job_line

CLAIMED: Final = "job.claimed"
PAGE: Final = 1000


async def lines_of(house: House, jobs: Sequence[JobRow], claims: Iterable[Entry] | None = None) -> dict[str, JobLine]:
    """Give each job's line by the job's id; who has read the claims already need not have them read again."""
    if not jobs:
        return {}
    find, now = house.records.find, house.clock.now()
    runs = {row.id: row for row in await find(RunRow, id=tuple({job.run for job in jobs}))}
    nights = {row.id: row for row in await find(SessionRow, id=tuple({job.session for job in jobs}))}
    known = taken_up(await _claims(house, jobs) if claims is None else claims)
    return {
        job.id: job_line(
            job,
            now,
            runs[job.run].contract if job.run in runs else None,
            taken_up=known.get(job.id),
            night_ends_at=nights[job.session].ends_at if job.session in nights else None,
        )
        for job in jobs
    }


def taken_up(claims: Iterable[Entry]) -> dict[str, datetime]:
    """Tell when each job was last taken up."""
    return {entry.event.job: entry.at for entry in claims if isinstance(entry.event, JobClaimed)}


async def _claims(house: House, jobs: Sequence[JobRow]) -> list[Entry]:
    """Read the claims of jobs that are at work, from the act on that began the first of them."""
    acts = tuple(job.act for job in jobs if job.state is JobState.RUNNING)
    if not acts:
        return []
    begun = await house.records.find(ActRow, id=acts)
    after = min(row.judged_seq for row in begun) if len(begun) == len(acts) else 0
    found: list[Entry] = []
    while page := await house.journal.entries(after=after, limit=PAGE, kinds=(CLAIMED,)):
        found += page
        after = page[-1].seq
    return found
