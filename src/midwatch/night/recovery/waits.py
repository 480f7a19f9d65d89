"""What follows an error that holds a job up: it waits, a person is asked, it is retried, or it ends."""

import contextlib
from datetime import datetime, timedelta

from midwatch.errors import JobSpent, Limited, Locked, MidwatchError, NightSpent, Stale
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobEnded, JobGranted, JobWoken
from midwatch.journal.events.session import AskWithdrawn, SessionPaused, SessionResumed
from midwatch.night.asks.escalation import CAPPED, ask_about
from midwatch.night.jobs.job_limits import contract_of
from midwatch.night.notify.notice import job_notice
from midwatch.night.recovery.failures import OUTSIDE, after_failure, failed, find_out, waits
from midwatch.night.rounds.debrief import NightEnd, debrief_events
from midwatch.night.rounds.news import untold
from midwatch.ports.books import Books
from midwatch.ports.journal import Journal, Records
from midwatch.ports.workspace import Rooms
from midwatch.rules.budget.spending import Amount, more_for
from midwatch.rules.people.asks import GO_ON, SILENCE, STOP, silence_in_words
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.rules.recovery.recovery import Cause, NextAct
from midwatch.settings import Settings
from midwatch.settings.zone import local_time
from midwatch.terms.asks import AskKind, AskState
from midwatch.terms.figures import MICROS, dollars, micros
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.projects import SessionState
from midwatch.terms.records import AskRow, JobRow, SessionRow

UNTOLD = timedelta(minutes=15)
"""How long to wait for a limit without a known reset time."""
BUDGET = "budget"
HELD = "A credential was refused; everything waits until it is fixed."


async def after(books: Books, rooms: Rooms, job: JobRow, error: MidwatchError) -> tuple[Event, ...]:
    """Turn an error into what happens next."""
    match error:
        case Limited(until=until):
            return await _wait_for(books, rooms, job, error, until)
        case Locked():
            return await _ask_for_a_credential(books, job, error)
        case JobSpent():
            return await _ask_for_more(books, job, error)
        case NightSpent():
            return await _end_the_session(books, job, error)
        case _:
            found = await find_out(books.records, books.settings(), rooms, job, error)
            if found.act is NextAct.WAIT:
                return await _wait_for(books, rooms, job, error, None, attempt=job.attempt + 1)
            return await after_failure(books, rooms, job, error, found)


async def _wait_for(
    books: Books, rooms: Rooms, job: JobRow, error: MidwatchError, until: datetime | None, *, attempt: int | None = None
) -> tuple[Event, ...]:
    """Wait for a limit to reset, within the night; not a failure, but a limit found only in text counts as a try."""
    session = await books.records.get(SessionRow, job.session)
    if until is None or until <= books.clock.now():  # no reset time is known, or it has passed
        until = books.clock.now() + UNTOLD
    at = f"{local_time(books.settings(), until):%H:%M}"
    if session.ends_at is not None and until >= session.ends_at:
        why = f"{error.message} It resets at {at}, after the {session.noun} ends; the work so far is kept."
        return await failed(
            books, rooms, job, f"{why} Resume it then: midwatch job resume {job.number}", "limit", headline=why
        )
    why = f"{error.message} It resumes at {at}."
    result = job_notice(books.ids, job, tier_of(NoticeKind.ROUTINE), f"Job {job.number} ({job.title}) waits: {why}")
    return waits(job, why, "limit", until=until, attempt=attempt), result


async def _ask_for_a_credential(books: Books, job: JobRow, error: MidwatchError) -> tuple[Event, ...]:
    """Hold everything until the person has fixed a refused credential; that is critical (SPEC 11)."""
    session = await books.records.get(SessionRow, job.session)
    held = waits(job, error.message, Cause.AUTH.value)
    if await _open_asks(books.records, job.session, AskKind.GUIDANCE_ERROR):
        return (held,)  # the person is asked once, not once for every job
    holds = session.state is SessionState.AUTONOMOUS and not session.paused
    paused = (SessionPaused(session=session.id, why=HELD),) if holds else ()
    return held, *paused, *_credential_ask(books, job, error.message)


def _credential_ask(books: Books, job: JobRow, why: str) -> tuple[Event, ...]:
    minutes = books.settings().asks.guidance_error_minutes
    silence = silence_in_words(SILENCE[AskKind.GUIDANCE_ERROR], minutes)
    how = "midwatch doctor says where" if job.stage in OUTSIDE else f"midwatch agent login {job.agent}"
    question = f"{why} Fix it ({how}), then try again; or stop job {job.number}?"
    opened = ask_about(books, job, AskKind.GUIDANCE_ERROR, f"{question} {silence}", (GO_ON, STOP), minutes)
    return opened, job_notice(books.ids, job, tier_of(NoticeKind.CRITICAL_GUIDANCE), question, subject=opened.ask)


async def ask_again(books: Books, session_id: str) -> None:
    """When the ask about a credential is closed, ask about the next waiting job, or resume the night."""
    if await _open_asks(books.records, session_id, AskKind.GUIDANCE_ERROR):
        return
    waiting = await books.records.find(JobRow, session=session_id, state=JobState.WAITING, cause=Cause.AUTH.value)
    session = await books.records.get(SessionRow, session_id)
    if waiting:
        await books.journal.record(*_credential_ask(books, waiting[0], waiting[0].waits_for))
    elif held_by_us(session):
        with contextlib.suppress(Stale):
            await books.journal.record(SessionResumed(session=session_id))


def held_by_us(session: SessionRow) -> bool:
    """Whether Midwatch may end this pause: a person, a message or spin may have paused the night for another reason."""
    return session.state is SessionState.AUTONOMOUS and session.paused and session.why_paused in {HELD, CAPPED}


async def _ask_for_more(books: Books, job: JobRow, error: MidwatchError) -> tuple[Event, ...]:
    """At a job's own limit, keep the work and ask the person (SPEC 9)."""
    more = await _more(books.records, books.settings(), job)
    minutes = books.settings().asks.spend_minutes
    question = (
        f"Job {job.number} ({job.title}) has used up its budget."
        f" May it spend {dollars(more.usd_micros)}, {more.tokens:,} tokens and {more.requests:,} requests"
        " more?"
    )
    silence = silence_in_words(SILENCE[AskKind.SPEND], minutes)
    opened = ask_about(books, job, AskKind.SPEND, f"{question} {silence}", ("yes", "no"), minutes)
    result = job_notice(books.ids, job, tier_of(NoticeKind.NEEDS_INPUT), question, subject=opened.ask)
    return waits(job, error.message, BUDGET), opened, result


async def _more(records: Records, settings: Settings, job: JobRow) -> Amount:
    planning = micros(settings.planning.max_cost_usd) if job.stage is Stage.PLAN else None
    bounds = (await contract_of(records, job)).constraints
    return more_for(bounds, settings.execution.max_requests, planning)


async def spent_if_granted(books: Books, job_id: str) -> float:
    """Return how many dollars a job might spend in all if its question for more were answered with yes."""
    job = await books.records.get(JobRow, job_id)
    bounds = (await contract_of(books.records, job)).constraints
    more = await _more(books.records, books.settings(), job)
    return (bounds.max_usd_micros + job.granted_usd_micros + more.usd_micros) / MICROS


async def _end_the_session(books: Books, job: JobRow, error: MidwatchError) -> tuple[Event, ...]:
    """At the limit of a whole night or command, end it with the reason (SPEC 9)."""
    session = await books.records.get(SessionRow, job.session)
    ended = JobEnded(job=job.id, epoch=job.epoch, state="stopped", why=f"{error.message} Its work is kept.")
    if session.state is not SessionState.AUTONOMOUS:
        return (ended,)
    others = [one for one in await books.records.find(JobRow, session=session.id) if one.id != job.id]
    asks = await books.records.find(AskRow, session=session.id, state=AskState.OPEN)
    end = NightEnd(f"the {session.noun}'s budget is used up", news=await untold(books, session, others))
    return ended, *debrief_events(books.ids, session, end, jobs=others, asks=asks)


async def wake(journal: Journal, records: Records, job_id: str, *, by: str) -> None:
    """Resume a waiting job; a job that no longer waits stays as it is."""
    job = await records.get(JobRow, job_id)
    if job.state is JobState.WAITING and job.waits_for:
        woken = _woken(job, by)
        await journal.record(woken, key=f"woken:{job.id}:{job.epoch}:{job.waits}")


def _woken(job: JobRow, by: str) -> JobWoken:
    return JobWoken(job=job.id, epoch=job.epoch, stage=job.stage, attempt=job.attempt, by=by)


async def answered(books: Books, rooms: Rooms, ask: AskRow, *, agreed: bool) -> tuple[Event, ...]:
    """Return what follows an answer about a waiting job."""
    by = ask.answered_by or "silence"
    if ask.kind is AskKind.GUIDANCE_ERROR:
        return await _credential_answered(books, rooms, ask, by, agreed=agreed)
    if ask.kind is AskKind.GUIDANCE_UNCERTAIN:
        return ()  # the job is over; the next round reads the answer, and counts from there
    job = await books.records.get(JobRow, ask.subject)
    if job.state is not JobState.WAITING or job.cause != BUDGET:
        return ()
    if not agreed:
        return await failed(
            books, rooms, job, f"{job.waits_for} Nothing more was granted by {by}; its work is kept.", BUDGET
        )
    more = await _more(books.records, books.settings(), job)
    usd, tokens, requests = more.usd_micros, more.tokens, more.requests
    return JobGranted(job=job.id, usd_micros=usd, tokens=tokens, requests=requests, by=by), _woken(job, by)


async def _credential_answered(books: Books, rooms: Rooms, ask: AskRow, by: str, *, agreed: bool) -> tuple[Event, ...]:
    """Resume or end all jobs that waited for the same credential."""
    session = await books.records.get(SessionRow, ask.session)
    waiting = await books.records.find(JobRow, session=ask.session, state=JobState.WAITING, cause=Cause.AUTH.value)
    events: list[Event] = []
    for job in waiting:
        why = f"{job.waits_for} {by} said {ask.answer}; its work is kept."
        events += [_woken(job, by)] if agreed else await failed(books, rooms, job, why, Cause.AUTH.value)
    if held_by_us(session):
        events.append(SessionResumed(session=session.id))
    others = await _open_asks(books.records, ask.session, AskKind.GUIDANCE_ERROR)
    events += [AskWithdrawn(ask=one.id, why="answered with another ask") for one in others if one.id != ask.id]
    return tuple(events)


async def _open_asks(records: Records, session: str, kind: AskKind) -> tuple[AskRow, ...]:
    return tuple(await records.find(AskRow, session=session, kind=kind, state=AskState.OPEN))
