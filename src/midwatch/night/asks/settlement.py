"""What follows when an ask is answered or expires."""

from datetime import datetime

from midwatch.errors import Misuse, Refused, Stale, Unknown
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobApproved, JobEnded, PlanReturned
from midwatch.journal.events.notices import AskPostponed
from midwatch.journal.events.projects import ToolAlwaysAllowed
from midwatch.journal.events.session import ActEnded, AskAnswered, AskExpired
from midwatch.night.asks import agent_questions
from midwatch.night.jobs.job_limits import tainted
from midwatch.night.jobs.planning import opened_by
from midwatch.night.recovery import waits
from midwatch.night.rounds import acts
from midwatch.night.rounds.debrief import NightEnd, debrief_events
from midwatch.night.rounds.news import untold
from midwatch.ports.books import Books
from midwatch.ports.journal import Journal, Records
from midwatch.ports.workspace import Rooms
from midwatch.rules.people.asks import NO, YES, agrees
from midwatch.rules.people.ceilings import money_beyond, refuse, tools_beyond
from midwatch.settings import granted_ceilings
from midwatch.terms.asks import ALWAYS, EDIT, AskKind, AskState, Silence, always_tools
from midwatch.terms.jobs import JobState
from midwatch.terms.projects import SessionState
from midwatch.terms.records import AskRow, JobRow, NoticeRow, SessionRow
from midwatch.terms.trust import Level
from midwatch.views.pages.live.open_asks import hash_shown
from midwatch.views.text.plain import clean

TRIES = 5
ABOUT_WAITING = frozenset({AskKind.GUIDANCE_ERROR, AskKind.GUIDANCE_UNCERTAIN, AskKind.SPEND})


async def answer(  # noqa: PLR0913 - what is said, by whom, and of what
    books: Books, name: str, said: str, *, by: str, text: str = "", shown: str = "", capped: bool = False
) -> AskRow:
    """Record a person's answer; the first one counts, and only for the question that was shown.

    Who is `capped` grants only what an owner granted: money for a job, and tools that are always allowed.

    Every surface passes the hash it `shown`; it is empty only where a program answers what it asked itself.
    """
    ask = await books.records.get(AskRow, name)
    if shown and shown != hash_shown(ask.shown_hash, ask.question, ask.options):
        why = f"Ask {ask.number} is not the question that you were shown."
        now = f"It asks now: {clean(ask.question, 400)}"
        raise Refused(why, hint="Read it again, then answer.", because=(why, now))
    said = _always(ask, said)
    closed = ask.kind in {AskKind.APPROVE_PLAN, AskKind.CONFIRM_ACT, *ABOUT_WAITING}
    allows = always_tools(said) if said in ask.options else ()
    if (
        closed
        and said.lower() not in YES | NO
        and not allows
        and not await agent_questions.is_question(books.records, ask)
    ):
        _check_edit(ask, said, text)
    if capped:
        await _refuse_ungranted(books, ask, said, allows)
    answered = AskAnswered(ask=ask.id, answer=said, by=by, text=text)
    # In one transaction: the next call of the agent may come at once.
    more = (ToolAlwaysAllowed(project=ask.project, tools=allows, ask=ask.id),) if allows else ()
    await books.journal.record(answered, *more, actor=by)
    return await books.records.get(AskRow, ask.id)


async def _refuse_ungranted(books: Books, ask: AskRow, said: str, allows: tuple[str, ...]) -> None:
    """Raise where an answer would give a job more than an owner granted (SPEC 9)."""
    granted = granted_ceilings(books.settings(), Level.OBSERVE)  # an answer says nothing about the level
    if allows:
        refuse(tools_beyond(allows, granted))
    if ask.kind is AskKind.SPEND and agrees(said) and ask.subject.startswith("job_"):
        refuse(money_beyond(await waits.spent_if_granted(books, ask.subject), granted))


def _always(ask: AskRow, said: str) -> str:
    """Read `always` as the ask's own option, which says what it would allow."""
    if said.strip().lower() not in {ALWAYS, ALWAYS.partition(" ")[0]}:
        return said
    return next((one for one in ask.options if always_tools(one)), said)


def _check_edit(ask: AskRow, said: str, text: str) -> None:
    """Check an answer other than yes or no: only a plan may be sent back, with what should change."""
    if said.lower() != EDIT or EDIT not in ask.options:
        raise Unknown(f"Ask {ask.number}: answer {' or '.join(ask.options)}, not {said!r}.")
    if not text.strip():
        raise Misuse(
            "Say what should change.",
            hint=f'For example: midwatch asks {ask.number} edit --text "leave the public names alone"',
        )


async def expire(journal: Journal, records: Records, ask_id: str, due_at: datetime) -> None:
    """Expire an unanswered ask: its stated default applies."""
    ask = await records.get(AskRow, ask_id)
    if ask.state is not AskState.OPEN or ask.due_at != due_at:
        return
    if await records.find(NoticeRow, subject=ask.id, sent_by=""):
        return  # its notice was not sent yet: its time starts when it is (SPEC 9)
    why = await _not_by_silence(journal, records, ask)
    event = AskPostponed(ask=ask.id, due_at=None, why=why) if why else AskExpired(ask=ask.id, meant=ask.silence)
    try:
        await journal.record(event, key=f"ask:{ask.id}:{'waits' if why else 'expired'}")
    except (Refused, Stale):
        return  # answered in the same moment; the answer counts


async def _not_by_silence(journal: Journal, records: Records, ask: AskRow) -> str:
    """Say why silence may no longer approve this ask, if so; its meaning was fixed at its opening (SPEC 9)."""
    if ask.silence is not Silence.APPROVED:
        return ""
    if (await records.get(SessionRow, ask.session)).level is Level.OBSERVE:
        return "the level was lowered to observe, so silence does not approve it"
    if ask.subject.startswith("job_") and await tainted(journal, records, await records.get(JobRow, ask.subject)):
        return "the run read untrusted text, so silence does not approve it"
    return ""


async def settle(books: Books, rooms: Rooms, ask_id: str) -> None:
    """Carry out what the answer, or no answer, means."""
    ask = await books.records.get(AskRow, ask_id)
    agreed = agrees(ask.answer) or ask.answer == Silence.APPROVED.value
    if ask.kind is AskKind.APPROVE_PLAN:
        await _settle_plan(books.journal, books.records, ask, agreed=agreed)
    elif ask.kind is AskKind.CONFIRM_ACT and not ask.subject.startswith("job_"):  # a held call reads its own ask
        await _settle_act(books, rooms, ask, agreed=agreed)
    elif ask.answer == Silence.STOP_AND_DEBRIEF.value and await _under_way(books.records, ask.session):
        await debrief(books, ask.session, "a critical error got no answer")
    elif await agent_questions.is_question(books.records, ask):
        await agent_questions.settled(books.journal, books.records, ask)
    elif ask.kind in ABOUT_WAITING and ask.subject.startswith("job_"):
        events = await waits.answered(books, rooms, ask, agreed=agreed)
        if events:
            await _once(books.journal, *events, key=f"settle:{ask.id}")


async def _under_way(records: Records, session: str) -> bool:
    """Whether the night still runs; a job that a person resumed after its night has no night to stop."""
    return (await records.get(SessionRow, session)).state is SessionState.AUTONOMOUS


async def _settle_plan(journal: Journal, records: Records, ask: AskRow, *, agreed: bool) -> None:
    job = await records.get(JobRow, ask.subject)
    if job.state.over or job.state is JobState.STOPPING:
        return  # the stop ends it
    by = ask.answered_by or "silence"
    events: tuple[Event, ...]
    if agreed:
        approved = JobApproved(job=job.id, by=by, plan_hash=ask.shown_hash)
        events = (*await opened_by(journal, records, ask, job), approved)
    elif ask.answer.lower() == EDIT:
        events = (PlanReturned(job=job.id, by=by, plan_hash=ask.shown_hash, wish=ask.answer_text),)
    else:
        why = f"The plan was rejected by {by}. {ask.answer_text}".strip()
        events = (JobEnded(job=job.id, epoch=job.epoch, state="declined", why=why),)
    await _once(journal, *events, key=f"settle:{ask.id}")


async def _settle_act(books: Books, rooms: Rooms, ask: AskRow, *, agreed: bool) -> None:
    if agreed:
        await acts.carry_out(books, rooms, ask.subject, confirmed=True)
        return
    said = "no answer in time" if ask.state is AskState.EXPIRED else f"{ask.answered_by} said {ask.answer}"
    await _once(
        books.journal, ActEnded(act=ask.subject, end="dropped", text=f"Not done: {said}."), key=f"settle:{ask.id}"
    )


async def _once(journal: Journal, *events: Event, key: str) -> None:
    if await journal.known(key) is None:
        try:
            await journal.record(*events, key=key)
        except Stale:
            return  # it was stopped or replaced in the same moment


async def debrief(books: Books, session_id: str, reason: str, *, actor: str = "midwatch") -> None:
    """End the autonomous part: stop running jobs, keep their work, and send a notice."""
    for tries_left in reversed(range(TRIES)):
        session = await books.records.get(SessionRow, session_id)
        if session.state is not SessionState.AUTONOMOUS:
            raise Refused(f"{session.called} is not running (it is in {session.state.value}).")
        jobs = await books.records.find(JobRow, session=session.id)
        asks = await books.records.find(AskRow, session=session.id, state=AskState.OPEN)
        news = await untold(books, session, jobs)
        events = debrief_events(books.ids, session, NightEnd(reason, actor, news), jobs=jobs, asks=asks)
        try:
            await books.journal.record(*events, actor=actor)
        except (Stale, Refused):
            if not tries_left:
                raise
        else:
            return  # a job or ask that ended in the same moment only costs another try
