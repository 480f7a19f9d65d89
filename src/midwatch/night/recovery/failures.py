"""What follows a failed try: a pause, a retry, another job, or a notice to the person about what was tried."""

from dataclasses import dataclass
from datetime import datetime

from midwatch.errors import Away, MidwatchError, Refused, Stale, Unsafe, Withheld
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobEnded, JobStumbled, JobWaits
from midwatch.journal.events.session import NoticeRaised
from midwatch.night.agents.final_output import kept, last_head, last_words
from midwatch.night.asks.escalation import guidance
from midwatch.night.notify.notice import in_check_in, job_notice
from midwatch.ports.books import Books
from midwatch.ports.clock import Ids
from midwatch.ports.journal import Records
from midwatch.ports.workspace import Rooms
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.rules.recovery.recovery import CAUSES, Cause, NextAct, back_off, classify, next_act
from midwatch.rules.recovery.tries import errors_in_a_row, failures_of, forgiven_at, tries_of
from midwatch.settings import Settings
from midwatch.terms.jobs import AGENT_STAGES, Failure, JobState, Stage
from midwatch.terms.records import AskRow, JobRow, SessionRow

OUTSIDE = frozenset({Stage.MIRROR, Stage.DELIVER, Stage.PULL_REQUEST})
"""Stages in which a refusal comes from a forge, not from an agent or from Midwatch."""
REPORTED_OUTSIDE = {cause for cause, remedy in CAUSES.items() if remedy.act not in {NextAct.RESTART, NextAct.AGAIN}} | {
    Cause.CONFLICT
}
"""Causes that a forge's refusal may have; a forge cannot decide that the work is wrong."""


@dataclass(frozen=True, slots=True)
class FoundFailure:
    """The cause of a failed try, and what follows by the table."""

    cause: Cause
    act: NextAct
    tries: int
    words: str
    """The end of the agent's output."""


async def find_out(
    records: Records, settings: Settings, rooms: Rooms, job: JobRow, error: MidwatchError
) -> FoundFailure:
    """Find the cause: by the error's type, then by its message, by the end of the log, and last by the exit code."""
    words = await last_words(rooms, job)
    said = classify("\n".join((*error.because, error.message)))
    cause = _known(job, error, said) or said
    if cause is Cause.UNKNOWN:
        cause = classify(words if job.stage in AGENT_STAGES else "", error.program_exit)
    jobs = await records.find(JobRow, session=job.session)
    asks = await records.find(AskRow, session=job.session)
    tried = failures_of(jobs, job.work_item, forgiven_at(asks, job.project, jobs, job.work_item))
    tries = tries_of(tried, cause.value) + 1
    act = next_act(cause, tries, settings.jobs.max_retries)
    return FoundFailure(
        cause, NextAct.RESTART if isinstance(error, Refused) and act is NextAct.AGAIN else act, tries, words
    )


def _known(job: JobRow, error: MidwatchError, said: Cause) -> Cause | None:
    """Return the cause that the error's type implies: our refusal means the work is wrong, a forge's means access."""
    if isinstance(error, Withheld):
        return Cause.AUTH
    if isinstance(error, Refused):
        theirs = job.stage in OUTSIDE and not isinstance(error, Stale)
        return (said if said in REPORTED_OUTSIDE else Cause.AUTH) if theirs else Cause.LOGIC
    return Cause.TRANSIENT if isinstance(error, Away) else None


async def after_failure(
    books: Books, rooms: Rooms, job: JobRow, error: MidwatchError, found: FoundFailure
) -> tuple[Event, ...]:
    """Follow the table; a failure that only a person or a new job can fix ends this job."""
    why = f"{error.message} {error.hint}".strip()
    if found.act is NextAct.BACK_OFF and not job.state.over:
        until = books.clock.now() + back_off(found.tries)
        return (waits(job, error.message, found.cause.value, until=until, attempt=job.attempt + 1),)
    if found.act is NextAct.AGAIN:
        blob = await kept(books.blobs, found.words)
        cause = found.cause.value
        stumbled = {"stage": job.stage, "attempt": job.attempt, "cause": cause, "error": why, "output_blob": blob}
        return (JobStumbled.model_validate({"job": job.id, "epoch": job.epoch, **stumbled}),)
    ended = await _ended(rooms, job, why, found.cause.value, await kept(books.blobs, found.words))
    events = ended, *await end_notice(books, job, ended, error.message)
    return _as_security(books.ids, job, events, error) if isinstance(error, Unsafe) else events


def _as_security(ids: Ids, job: JobRow, events: tuple[Event, ...], error: Unsafe) -> tuple[Event, ...]:
    """Wake the person for work that would do harm, even if notices about failures are off."""
    tier = tier_of(NoticeKind.SECURITY)
    loud = tuple(one.model_copy(update={"tier": tier}) if isinstance(one, NoticeRaised) else one for one in events)
    if any(isinstance(one, NoticeRaised) for one in loud):
        return loud
    return *loud, job_notice(ids, job, tier, f"Job {job.number} ({job.title}): {error.message}")


async def failed(
    books: Books, rooms: Rooms, job: JobRow, why: str, cause: str, *, headline: str = ""
) -> tuple[Event, ...]:
    """End a job, and send a notice."""
    ended = await _ended(rooms, job, why, cause)
    return ended, *await end_notice(books, job, ended, headline)


async def _ended(rooms: Rooms, job: JobRow, why: str, cause: str, output_blob: str = "") -> JobEnded:
    head = await last_head(rooms, job)
    return JobEnded(
        job=job.id, epoch=job.epoch, state="failed", why=why, cause=cause, output_blob=output_blob, head=head
    )


async def end_notice(books: Books, job: JobRow, ended: JobEnded, headline: str = "") -> tuple[Event, ...]:
    """Report that a job failed, more urgently with every error in a row; if no retry is left, ask what to do.

    The ask is sent even if failure notices are off: without an answer nothing continues.
    """
    notices = books.settings().notices
    failure = Failure(stage=job.stage, attempt=job.attempt, cause=ended.cause, said=ended.why, at=books.clock.now())
    over = {
        "state": JobState.FAILED,
        "cause": ended.cause,
        "failures": (*job.failures, failure),
        "ended_at": failure.at,
    }
    jobs = [
        one.model_copy(update=over) if one.id == job.id else one
        for one in await books.records.find(JobRow, session=job.session)
    ]
    asks = await books.records.find(AskRow, session=job.session)
    since = forgiven_at(asks, job.project, jobs)
    errors = errors_in_a_row([one for one in jobs if one.project == job.project], since)
    tier = tier_of(NoticeKind.ERROR, errors_in_a_row=errors, errors_that_wake=notices.errors_that_wake)
    text = f"Job {job.number} ({job.title}) failed at {job.stage.said}: {headline or ended.why}"
    asked = await guidance(books, job, jobs, asks, tier)
    together = in_check_in(await books.records.get(SessionRow, job.session), NoticeKind.ERROR, tier)
    return asked or ((job_notice(books.ids, job, tier, text),) if notices.on_error and not together else ())


def waits(job: JobRow, why: str, cause: str, *, until: datetime | None = None, attempt: int | None = None) -> JobWaits:
    """Make a job wait for a time, or for a person."""
    return JobWaits(
        job=job.id,
        epoch=job.epoch,
        stage=job.stage,
        attempt=attempt or job.attempt,
        cause=cause,
        why=why,
        until=until,
    )
