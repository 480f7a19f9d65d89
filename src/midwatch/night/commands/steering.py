"""Commands of a person while the night runs. They are bound by scopes and budgets, not by the level."""

from midwatch.errors import Refused
from midwatch.journal.events.projects import WorkChanged
from midwatch.journal.events.session import AskAnswered, CheckInMade, MessageSaid, SessionPaused, SessionResumed
from midwatch.journal.events.workshop import CheckoutRemoved
from midwatch.night.jobs.attempt import halt
from midwatch.night.jobs.resume import resume_stage, take_up
from midwatch.night.recovery.waits import held_by_us
from midwatch.night.rounds.debrief import stop_events
from midwatch.night.rounds.world import look
from midwatch.night.timers import call_round
from midwatch.ports.books import Books
from midwatch.ports.brain import Brain
from midwatch.ports.journal import Journal, Records
from midwatch.ports.workspace import Rooms, Upkeep
from midwatch.rules.people.asks import GO_ON
from midwatch.terms.asks import AskKind, AskState
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.projects import SessionState, WorkStatus
from midwatch.terms.records import AskRow, JobRow, PullRequestRow, SessionRow
from midwatch.views.text.plain import clean

LONGEST_ANSWER = 600


async def pause(journal: Journal, session: SessionRow, *, by: str, why: str) -> None:
    if session.paused:
        raise Refused(f"Night {session.number} is paused already: {session.why_paused}.", hint="midwatch resume")
    await journal.record(SessionPaused(session=session.id, why=why), actor=by)


async def resume(journal: Journal, records: Records, session: SessionRow, *, by: str) -> None:
    """Resume the loop; this also answers the asks for which Midwatch paused it."""
    if not session.paused:
        raise Refused(f"Night {session.number} is not paused.")
    asked = {"session": session.id, "kind": AskKind.GUIDANCE_ERROR, "state": AskState.OPEN}
    asks = await records.find(AskRow, **asked) if held_by_us(session) else ()
    answers = [AskAnswered(ask=ask.id, answer=GO_ON, by=by) for ask in asks]
    await journal.record(SessionResumed(session=session.id), *answers, actor=by)


async def think(journal: Journal, records: Records, session: SessionRow, *, by: str) -> None:
    if session.paused:
        raise Refused(f"Night {session.number} is paused.", hint="midwatch resume")
    if session.round_active:
        raise Refused("A round is already running.")
    await call_round(journal, records, session.id, f"asked by {by}")


async def say(books: Books, brain: Brain, session: SessionRow, text: str, *, by: str) -> str:
    """Record a message: it pauses the loop and counts as an update of the briefing (S7); return the brain's answer."""
    if not text.strip():
        raise Refused("The message is empty.")
    said = MessageSaid(message=books.ids.new("msg"), session=session.id, by=by, text=text)
    why = f"{by} sent a message; resume or stop?"
    paused = () if session.paused else (SessionPaused(session=session.id, why=why),)
    await books.journal.record(said, *paused, actor=by)
    world = await look(books, await books.records.get(SessionRow, session.id))
    answer = clean(await brain.reply(world.sense(), text), LONGEST_ANSWER)
    await books.journal.record(CheckInMade(session=session.id, type="guidance", trigger=f"{by}'s message", text=answer))
    return answer


async def stop_job(books: Books, rooms: Rooms, job: JobRow, *, by: str, why: str) -> None:
    """Stop a job; the entry wakes the worker that runs it."""
    events = stop_events(job, by=by, why=why)
    if not events:
        raise Refused(f"Job {job.number} is already over: {job.state.value}.")
    await books.journal.record(*events, actor=by)
    await halt(books, rooms, job.id)  # a job that only waits ends at once, so that the person sees it end


async def resume_job(books: Books, job: JobRow, *, by: str) -> JobRow:
    """Continue a job that failed or was stopped, in the checkout it left, as a new job that names the former."""
    if not job.state.over or job.state is JobState.DONE:
        raise Refused(f"Job {job.number} is {job.state.value}; it cannot be resumed.", hint="midwatch job list")
    if following := await books.records.find(JobRow, retry_of=job.id):
        raise Refused(
            f"Job {job.number} continues as job {following[-1].number}.",
            hint=f"Look at that one: midwatch job show {following[-1].number}",
        )
    if opened := await books.records.find(PullRequestRow, job=job.id):
        raise Refused(
            f"Job {job.number} has already delivered: pull request {opened[-1].number} is {opened[-1].state}.",
            hint=f"Look at it: midwatch job diff {job.number}",
        )
    session, stage = await books.records.get(SessionRow, job.session), await resume_stage(books.records, job)
    if session.state is not SessionState.AUTONOMOUS and stage is Stage.MIRROR:
        raise Refused(
            f"{session.called} is over, and job {job.number} had no approved plan yet.",
            hint="Give the command again." if session.ad_hoc else "Order the work again for the next night.",
        )
    created, new = await take_up(books.ids, books.records, job, stage)
    await books.journal.record(
        *created,
        WorkChanged(item=job.work_item, status=WorkStatus.IN_PROGRESS, why=f"resumed by {by}"),
        actor=by,
        key=f"resumed:{job.id}",
    )
    return await books.records.get(JobRow, new)


async def discard(journal: Journal, upkeep: Upkeep, job: JobRow, *, by: str, force: bool) -> int:
    """Delete the checkouts of a finished job; refused if work would be lost, unless forced."""
    if not job.state.over:
        raise Refused(f"Job {job.number} is {job.state.value}.", hint=f"Stop it first: midwatch job stop {job.number}")
    freed = await upkeep.discard(job.id, force=force)
    why = f"discarded by {by}" + (", including work that existed nowhere else" if force else "")
    await journal.record(CheckoutRemoved(job=job.id, why=why, freed_bytes=freed), actor=by)
    return freed
