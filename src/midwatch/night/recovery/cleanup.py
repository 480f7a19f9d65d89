"""Cleans up on this machine: processes without an owner, and checkouts that are no longer needed."""

import logging
from datetime import timedelta

from midwatch.errors import Broken, Stale, Unknown
from midwatch.journal.events.session import NoticeRaised
from midwatch.journal.events.stack import StackMade
from midwatch.journal.events.workshop import CheckoutRemoved, ProcessOrphaned
from midwatch.night.agents.assignment import grace
from midwatch.night.notify.notice import job_notice
from midwatch.night.recovery.duties import Each, for_each
from midwatch.ports.books import Books
from midwatch.ports.clock import Ids
from midwatch.ports.journal import Journal, Records
from midwatch.ports.workspace import Rooms, Upkeep
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.terms.figures import some
from midwatch.terms.jobs import JobState
from midwatch.terms.preflight import PreflightState
from midwatch.terms.records import JobRow, PreflightRow, StackRow
from midwatch.terms.stack import StackState, StackVerdict
from midwatch.views.text.plain import as_sentence

log = logging.getLogger("midwatch.tidying")


async def end_orphans(books: Books, rooms: Rooms, each: Each[tuple[str, int]] = for_each) -> int:
    """End processes of a job that is over, unknown, or claimed on another machine; record each and send a notice."""
    ended = 0

    async def look(living: tuple[str, int]) -> None:
        nonlocal ended
        job_id, epoch = living
        why, job = await _why_orphaned(books.records, books.worker, job_id)
        if not why:
            return
        gone = await rooms.clear_out(job_id, grace(books.settings()))
        log.warning("job %s, attempt %s was still running: %s", job_id, epoch, why)
        found = ProcessOrphaned(job=job_id, epoch=epoch, why=why, ended=gone)
        result = (_notice(books.ids, job, why),) if job is not None else ()
        await books.journal.record(found, *result, key=f"orphan:{job_id}:{epoch}")
        ended += 1

    await each(await rooms.living(), look)
    return ended


async def _why_orphaned(records: Records, worker: str, job_id: str) -> tuple[str, JobRow | None]:
    try:
        job = await records.get(JobRow, job_id)
    except Unknown:
        return "There is no such job.", None
    if job.state.over:
        return f"Job {job.number} is {job.state.value}.", job
    machine, ours = (worker.rsplit("-", 2)[0] for worker in (job.worker, worker))
    if job.state is JobState.RUNNING and job.worker and machine != ours:
        return f"Job {job.number} was claimed on {machine}.", job
    return "", job


def _notice(ids: Ids, job: JobRow, why: str) -> NoticeRaised:
    text = f"A process of job {job.number} was still running and was ended: {why}"
    return job_notice(ids, job, tier_of(NoticeKind.ERROR), text)


async def collect_checkouts(books: Books, upkeep: Upkeep) -> int:
    """Remove checkouts by age and disk use; never one with work that exists nowhere else.

    What cannot be removed is raised after all that could be.
    """
    sandbox = books.settings().sandbox
    working = [job.id for job in await books.records.find(JobRow) if not job.state.over]
    checked = [stack.id for stack in await books.records.find(StackRow, state=StackState.MAKING)]
    looking = [row.id for row in await books.records.find(PreflightRow, state=PreflightState.RUNNING)]
    tidied = await upkeep.tidy(
        keep=(*working, *checked, *looking),
        older_than=timedelta(days=sandbox.keep_days),
        disk_share=sandbox.keep_disk_share,
        now=books.clock.now(),
    )
    removed = [one for one in tidied if not one.failed]
    for one in removed:
        await books.journal.record(CheckoutRemoved(job=one.job, why=one.why, freed_bytes=one.freed_bytes))
    if stays := [one for one in tidied if one.failed]:
        verb = "stays" if len(stays) == 1 else "stay"
        raise Broken(as_sentence(stays[0].why), hint=f"{some(len(stays), 'folder')} {verb} for now.")
    return len(removed)


async def give_up_stack(journal: Journal, records: Records, stack_id: str, why: str) -> None:
    """Record that a stack could not be made, unless it was made in time."""
    row = await records.get(StackRow, stack_id)
    if row.state is not StackState.MAKING:
        return
    made = StackMade(stack=row.id, session=row.session, project=row.project, verdict=StackVerdict.FAILED, why=why)
    try:
        await journal.record(made, key=f"stack:{row.id}:made")
    except Stale:
        return  # it was made in the same moment
