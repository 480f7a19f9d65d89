"""The time box of a job that a brain started: it opens, warns, stops the job, keeps its work and sends a notice."""

from datetime import datetime, timedelta

from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobBoxed, JobBoxOpened, JobEnded, JobWarned
from midwatch.night.agents.final_output import kept, last_head, last_words
from midwatch.night.notify.notice import job_notice
from midwatch.ports.books import Books
from midwatch.ports.clock import Clock, Ids
from midwatch.ports.journal import Blobs, Journal, Records
from midwatch.ports.workspace import Rooms
from midwatch.rules.budget.time_boxes import due_at, used
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.settings import Settings
from midwatch.settings.zone import local_time
from midwatch.terms.acts import Proposer
from midwatch.terms.jobs import AGENT_STAGES, JobState
from midwatch.terms.records import ActRow, JobRow

BOXED = "time_box"
"""The cause of a job that was ended by its time box."""
LONGEST_TEXT = 300


async def box_opened(records: Records, clock: Clock, settings: Settings, job: JobRow, epoch: int) -> tuple[Event, ...]:
    """Open the box, or continue it after a wait; a job that a person started has none."""
    execution = settings.execution
    if job.stage not in AGENT_STAGES or job.box_began_at is not None or job.state is JobState.STOPPING:
        return ()
    if not await _by_a_brain(records, job):
        return ()
    box, extra = (timedelta(minutes=one) for one in (execution.soft_box_minutes, execution.soft_box_extra_minutes))
    number = job.boxes or await _boxes_before(records, job) + 1
    at = due_at(job, clock.now(), box, extra)
    return (JobBoxOpened(job=job.id, epoch=epoch, number=number, due_at=at),)


async def _by_a_brain(records: Records, job: JobRow) -> bool:
    acts = await records.find(ActRow, id=job.act) if job.act else ()
    return any(act.proposal.by is Proposer.BRAIN for act in acts)


async def _boxes_before(records: Records, job: JobRow) -> int:
    """Count the boxes of the jobs it continues; a job that starts over after a failure counts from zero."""
    former = await records.get(JobRow, job.retry_of) if job.retry_of else None
    return former.boxes if former is not None and former.boxed_at is not None else 0


async def box_due(books: Books, job_id: str, due: datetime) -> None:
    """Warn, or stop a job that was warned; with 0 extra minutes it stops without a warning."""
    job = await books.records.get(JobRow, job_id)
    extra = timedelta(minutes=books.settings().execution.soft_box_extra_minutes)
    if job.box_began_at is None or job.state not in {JobState.RUNNING, JobState.QUEUED}:
        return
    minutes = round(used(job, max(due, job.box_began_at)) / timedelta(minutes=1), 1)
    if job.box_warned_at is None and extra:
        await _warn(books.journal, books.ids, books.settings(), job, minutes, max(due, books.clock.now()) + extra)
        return
    why = f"Its time box of {minutes:g} minutes is over; the work is kept."
    boxed = JobBoxed(job=job.id, epoch=job.epoch, minutes=minutes, why=why)
    await books.journal.record(boxed, key=f"boxed:{job.id}")


async def _warn(journal: Journal, ids: Ids, settings: Settings, job: JobRow, minutes: float, stop_at: datetime) -> None:
    at = f"{local_time(settings, stop_at):%H:%M}"
    text = f"Job {job.number} ({job.title}) has worked for {minutes:g} minutes; it stops at {at}."
    await journal.record(
        JobWarned(job=job.id, epoch=job.epoch, minutes=minutes, stop_at=stop_at),
        job_notice(ids, job, tier_of(NoticeKind.TIME_OUT), text),
        key=f"warned:{job.id}",
    )


async def stopped_well(blobs: Blobs, ids: Ids, rooms: Rooms, job: JobRow) -> tuple[Event, ...]:
    """End a stopped job with its last output and last commit; add a notice if its time box was over."""
    words = await last_words(rooms, job)
    ended = JobEnded(
        job=job.id,
        epoch=job.epoch,
        state="stopped",
        why=job.why or "stopped; the work is kept",
        cause=BOXED if job.boxed_at is not None else "",
        output_blob=await kept(blobs, words),
        head=await last_head(rooms, job),
    )
    if job.boxed_at is None:
        return (ended,)
    said = " ".join(words.split())[-LONGEST_TEXT:]
    last = f" Last words: {said}" if said else ""
    text = f"Job {job.number} ({job.title}) used up its time box at {job.stage.said}; its work is kept.{last}"
    return ended, job_notice(ids, job, tier_of(NoticeKind.TIME_OUT), text)
