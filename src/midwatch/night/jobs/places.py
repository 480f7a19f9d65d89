"""Places for jobs at work: a job that waits has none, and takes one again before it goes on (SPEC 9)."""

import contextlib

from midwatch.errors import Stale
from midwatch.journal.events.jobs import JobWaits
from midwatch.night.recovery import waits
from midwatch.ports.books import Books
from midwatch.rules.recovery.liveness import PLACE
from midwatch.terms.figures import some
from midwatch.terms.jobs import JobState
from midwatch.terms.records import JobRow

TAKEN = (JobState.QUEUED, JobState.RUNNING, JobState.STOPPING)
"""A queued job takes its place in a moment; if it then finds none, it waits."""


async def wait(books: Books, job: JobRow) -> None:
    """Let a job wait until a place is free; one that became free meanwhile is handed out at once."""
    most = books.settings().jobs.max_in_all
    why = f"No more than {some(most, 'job')} may be at work; it continues when one of them ends or waits."
    waiting = JobWaits(job=job.id, epoch=job.epoch, stage=job.stage, attempt=job.attempt, cause=PLACE, why=why)
    with contextlib.suppress(Stale):  # stopped in the same moment
        await books.journal.record(waiting, key=f"no_place:{job.id}:{job.epoch}:{job.waits}")
    await hand_out(books)


async def hand_out(books: Books) -> None:
    """Wake the jobs that wait for a place, the oldest first, as far as places are free."""
    waiting = await books.records.find(JobRow, state=JobState.WAITING, cause=PLACE)
    if not waiting:
        return
    free = books.settings().jobs.max_in_all - len(await books.records.find(JobRow, state=TAKEN))
    for job in sorted(waiting, key=lambda one: one.number)[: max(0, free)]:
        with contextlib.suppress(Stale):  # another worker was as fast
            await waits.wake(books.journal, books.records, job.id, by="a free place")
