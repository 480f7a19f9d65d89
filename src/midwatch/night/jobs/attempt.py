"""One attempt at one stage of one job: claim it, do it, record the outcome. The stages themselves: stages.py."""

import contextlib
import logging

from midwatch.errors import MidwatchError, NoPlace, Refused, Stale, Unavailable
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobClaimed, JobEnded
from midwatch.journal.events.session import AskOpened, NoticeRaised
from midwatch.night.agents.assignment import grace
from midwatch.night.asks import agent_questions
from midwatch.night.asks.held_calls import withdraw, withdraw_calls
from midwatch.night.context import Night
from midwatch.night.jobs import milestones, places
from midwatch.night.jobs.stages import STAGES
from midwatch.night.jobs.time_box import box_opened, stopped_well
from midwatch.night.recovery import failures, waits
from midwatch.ports.books import Books
from midwatch.ports.workspace import Rooms
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.records import AskRow, JobRow

log = logging.getLogger("midwatch.jobs")
TRIES = 3
LAST = 99
"""An attempt number after which there is no retry."""
OUT_ALREADY = frozenset({Stage.PULL_REQUEST, Stage.NOTICE})
"""Stages at which the work is already pushed; it is too late to stop it."""


class StageBroke(Exception):
    """A stage failed with an unexpected error; it carries the epoch of the attempt."""

    def __init__(self, job: str, epoch: int, error: Exception) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.job = job
        self.epoch = epoch


async def attempt_stage(night: Night, job_id: str, stage: Stage, attempt: int) -> None:
    """Claim the next epoch, outside any engine step: a recovered attempt must claim again, not replay the old claim."""
    books, workspace = night.books, night.workspace
    job = await books.records.get(JobRow, job_id)
    if job.state.over or job.state is JobState.WAITING or job.stage is not stage or attempt < job.attempt:
        # Done already, by an attempt before a crash; a waiting job is woken by JobWoken.
        await places.hand_out(books)
        return
    epoch = job.epoch + 1
    wake_up = workspace.wake_ups.of(job.id)  # before the claim: a stop right after it must find this event
    hung = True
    try:
        if not await _claimed(books, workspace.rooms, job, stage, attempt):
            # Another worker was faster. If it is in this process, the event belongs to that attempt.
            now = await books.records.get(JobRow, job_id)
            hung = now.epoch < epoch or now.worker != books.worker
            return
        job = (await books.records.get(JobRow, job_id)).model_copy(update={"epoch": epoch})
        await milestones.stage_begins(books.journal, books.ids, books.settings(), job)
        events, met = await _done(night, job, stage)
    except NoPlace:
        await _waits_for_a_place(books, workspace.rooms, job)
        return
    finally:
        stopped = wake_up.is_set()
        if hung:
            workspace.wake_ups.put_away(job.id, wake_up)
    if await _written_down(books, workspace.rooms, job, events, met, stopped=stopped):
        await withdraw_calls(books.journal, books.records, job.id)
        if (await books.records.get(JobRow, job.id)).state.over:
            await agent_questions.let_go(books.journal, books.records, job.id)
        else:  # the answer may have come while the wait was being recorded
            await agent_questions.wake(books.journal, books.records, job.id, by="midwatch")
        # Only now: until the outcome is recorded, a restarted server reads it again from the agent's output.
        await workspace.rooms.put_away(job.id)
        await places.hand_out(books)


async def _waits_for_a_place(books: Books, rooms: Rooms, job: JobRow) -> None:
    await places.wait(books, job)
    await halt(books, rooms, job.id)  # a stop that came before the wait was recorded found nothing to end


async def _claimed(books: Books, rooms: Rooms, job: JobRow, stage: Stage, attempt: int) -> bool:
    """Claim the next epoch; return whether it is ours. Raises NoPlace if too many others are at work."""
    epoch, isolation = job.epoch + 1, rooms.isolation
    most = books.settings().jobs.max_in_all
    claim = JobClaimed(
        job=job.id, stage=stage, attempt=attempt, epoch=epoch, worker=books.worker, isolation=isolation, places=most
    )
    try:
        box = await box_opened(books.records, books.clock, books.settings(), job, epoch)
        # Without a key: two workers of one process write equal claims; with a key, both would believe they had claimed.
        await books.journal.record(claim, *box, actor=books.worker)
    except NoPlace:
        raise
    except Stale:
        return False
    return True


async def _done(night: Night, job: JobRow, stage: Stage) -> tuple[tuple[Event, ...], MidwatchError | None]:
    """Run a stage; return its events, or the error it met."""
    try:
        # Once the branch is pushed there is nothing left to stop. Opening the pull request again after a crash opens
        # only one, so no pull request exists without a record.
        stops = job.state is JobState.STOPPING and stage not in OUT_ALREADY
        return await _stop(night.books, night.workspace.rooms, job) if stops else await STAGES[stage](night, job), None
    except MidwatchError as error:
        return (), error
    except Exception as surprise:
        raise StageBroke(job.id, job.epoch, surprise) from surprise


async def _written_down(
    books: Books, rooms: Rooms, job: JobRow, events: tuple[Event, ...], met: MidwatchError | None, *, stopped: bool
) -> bool:
    """Record the outcome of a stage, unless the job has a newer epoch; one that no longer fits is worked out again.

    A job whose outcome is never recorded would count as running forever.
    """
    for again in range(TRIES + 1):
        # Look again: a stop may have been requested, with a reason.
        now = await books.records.get(JobRow, job.id)
        if now.epoch != job.epoch or now.state.over:
            log.info("job %s, epoch %s came too late", job.number, job.epoch)
            return False
        if again == TRIES:
            events = await failures.failed(
                books, rooms, now, f"The result no longer fits what happened meanwhile: {met}", "unknown"
            )
        elif met is not None:
            events = await _after(books, rooms, now, met, stopped=stopped)
        elif again and now.state is JobState.STOPPING:
            events = await stopped_well(books.blobs, books.ids, rooms, now)
        events = await _with_notice(books, now, events)
        try:
            await books.journal.record(*events, key=f"stage:{job.id}:{job.epoch}", actor=books.worker)
        except (Stale, Refused) as late:
            log.info("job %s, epoch %s: %s", job.number, job.epoch, late.message)
            met = met or (None if now.state is JobState.STOPPING else late)
        else:
            return True
    return False


async def _stop(books: Books, rooms: Rooms, job: JobRow) -> tuple[Event, ...]:
    """Stop a job whose agent may still run from before a restart."""
    await rooms.clear_out(job.id, grace(books.settings()))
    return await stopped_well(books.blobs, books.ids, rooms, job)


async def _with_notice(books: Books, job: JobRow, events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Add the notice or ask to a stage that ends its job as failed."""
    ended = next((one for one in events if isinstance(one, JobEnded) and one.state == "failed"), None)
    silent = not any(isinstance(one, NoticeRaised | AskOpened) for one in events)
    return (*events, *await failures.end_notice(books, job, ended)) if ended is not None and silent else events


async def _after(books: Books, rooms: Rooms, job: JobRow, error: MidwatchError, *, stopped: bool) -> tuple[Event, ...]:
    """Turn an error into what happens next: the job was stopped, waits, or is over."""
    if stopped or job.state is JobState.STOPPING:
        return await stopped_well(books.blobs, books.ids, rooms, job)
    return await waits.after(books, rooms, job, error)


async def give_up(books: Books, rooms: Rooms, broke: StageBroke) -> None:
    """Fail a job whose stage met an unexpected error, unless the job has a newer epoch."""
    job = (await books.records.get(JobRow, broke.job)).model_copy(update={"epoch": broke.epoch, "attempt": LAST})
    if not job.state.over:
        events = await _after(books, rooms, job, Unavailable(str(broke)), stopped=False)
        with contextlib.suppress(Stale):
            await books.journal.record(*events, key=f"stage:{job.id}:{broke.epoch}", actor=books.worker)


async def halt(books: Books, rooms: Rooms, job_id: str) -> None:
    """End a stopped job that only waits; a running one is ended by its own attempt."""
    job = await books.records.get(JobRow, job_id)
    if job.state is not JobState.STOPPING or not (job.stage is Stage.APPROVE or job.waits_for):
        return
    for ask in await books.records.find(AskRow, subject=job.id, state=AskState.OPEN):
        await withdraw(books.journal, ask, "the job was stopped")
    with contextlib.suppress(Stale):
        await books.journal.record(
            *await stopped_well(books.blobs, books.ids, rooms, job), key=f"halted:{job.id}:{job.epoch}"
        )
    await waits.ask_again(books, job.session)
