"""A job's own question: how it becomes an ask or gets a known answer, and how the answer returns to the job."""

import contextlib

from midwatch.errors import Refused, Stale
from midwatch.journal.entry import digest
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobWaits, JobWoken
from midwatch.journal.events.session import AskOpened
from midwatch.journal.events.signals import SignalAnswered
from midwatch.night.asks.held_calls import withdraw
from midwatch.night.notify.notice import cut, job_notice
from midwatch.night.rounds.debrief import stop_events
from midwatch.night.rounds.world import look
from midwatch.ports.books import Books
from midwatch.ports.clock import Clock, Ids
from midwatch.ports.journal import Journal, Records
from midwatch.rules.gate.gate import judge
from midwatch.rules.people.asks import SILENCE, deadline_at
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.rules.recovery.signals import Earlier, KnownAnswer, known_answer
from midwatch.settings import Settings
from midwatch.settings.zone import local_time
from midwatch.terms.acts import ActKind, Proposal
from midwatch.terms.agents import Signal, SignalState
from midwatch.terms.asks import AskDraft, AskKind, AskState
from midwatch.terms.jobs import JobState
from midwatch.terms.records import AskRow, JobRow, SessionRow, SignalRow
from midwatch.terms.trust import GateOutcome, Verdict

KIND = AskKind.GUIDANCE_UNCERTAIN
QUESTION = "question"
"""The cause of a job that waits for the answer to its own question."""
NO_ANSWER = "No answer will come. Take the smaller step, and explain it in your summary."


async def ask_or_answer(books: Books, job: JobRow, signal: str, said: Signal) -> tuple[str, tuple[Event, ...]]:
    """Return what follows a question: the ask it becomes, or the answer that is already known."""
    session = await books.records.get(SessionRow, job.session)
    known = known_answer(said.text, said.options, session.orders.notes, await _earlier(books.records, job))
    verdict = None if known is None else await _judged(books, job, session, known, signal)
    if known is not None and verdict is not None and verdict.outcome.acts:
        return "", _resolved(books.ids, job, signal, known, verdict)
    opened = _ask(books.clock, books.ids, books.settings(), job, said, known)
    text = f"Job {job.number} ({job.title}) asks: {said.text}"
    kind = NoticeKind.NEEDS_INPUT
    return opened.ask, (opened, job_notice(books.ids, job, tier_of(kind), cut(text), subject=opened.ask))


async def _earlier(records: Records, job: JobRow) -> tuple[Earlier, ...]:
    """Return people's answers to jobs of this project, without timeouts and Midwatch's own answers."""
    asks = {one.id: one for one in await records.find(AskRow, project=job.project, kind=KIND, state=AskState.ANSWERED)}
    rows = await records.find(SignalRow, project=job.project)
    return tuple(
        Earlier(row.text, said_by(asks[row.ask]), f"ask {asks[row.ask].number}") for row in rows if row.ask in asks
    )


def said_by(ask: AskRow) -> str:
    """Return a person's answer, with the added text."""
    return " ".join(part for part in (ask.answer.strip(), ask.answer_text.strip()) if part)


async def _judged(books: Books, job: JobRow, session: SessionRow, known: KnownAnswer, signal: str) -> Verdict:
    """Ask the gate whether Midwatch may answer for the person (SPEC 9)."""
    proposal = Proposal(
        kind=ActKind.RESOLVE,
        project=job.project,
        target=signal,
        reason=f"{known.where} has the answer",
        message=known.answer,
        confidence=1.0,
    )
    facts = (await look(books, session)).facts_for(proposal)
    # The last act on the project is usually the start of the job that asks, so the cooldown does not apply; and the
    # question exists, though it is recorded only together with what follows it.
    asked = {"same_project_at": None, "target_exists": True, "target_name": f"the question of job {job.number}"}
    return judge(proposal, facts.model_copy(update=asked))


def _resolved(ids: Ids, job: JobRow, signal: str, known: KnownAnswer, verdict: Verdict) -> tuple[Event, ...]:
    answered = SignalAnswered(
        signal=signal, job=job.id, answer=known.answer, by="midwatch", why=known.where, code=verdict.first.code
    )
    if verdict.outcome is not GateOutcome.EXECUTE_AND_TELL:
        return (answered,)
    text = f"Job {job.number} asked; {known.where} has the answer: {known.answer}"
    return answered, job_notice(ids, job, tier_of(NoticeKind.ACT_REPORTED), cut(text))


def _ask(clock: Clock, ids: Ids, settings: Settings, job: JobRow, said: Signal, known: KnownAnswer | None) -> AskOpened:
    minutes = settings.asks.guidance_uncertain_minutes
    question = f"Job {job.number} ({job.title}) asks:\n{said.text}"
    draft = AskDraft(
        kind=KIND,
        question=question,
        options=said.options,
        recommendation=known.answer if known else "",
        rationale=f"{known.where} says so. {said.detail}".strip() if known else said.detail,
        priority=8,
        deadline_minutes=minutes,
        silence=SILENCE[KIND],
        blocking=True,
        subject=job.id,
        project=job.project,
        shown_hash=digest("\n".join((question, said.detail, *said.options))),
    )
    due = deadline_at(local_time(settings, clock.now()), minutes)
    return AskOpened(ask=ids.new("ask"), session=job.session, draft=draft, due_at=due)


async def is_question(records: Records, ask: AskRow) -> bool:
    """Whether an ask comes from an agent's own question; guidance is asked for other reasons too."""
    return ask.kind is KIND and bool(await records.find(SignalRow, ask=ask.id))


async def settled(journal: Journal, records: Records, ask: AskRow) -> None:
    """Carry out the settled ask about a job's question; repeating it changes nothing."""
    rows = await records.find(SignalRow, ask=ask.id, state=SignalState.OPEN)
    job = await records.get(JobRow, ask.subject)
    if ask.state is AskState.OPEN or job.state.over:
        return
    events: list[Event] = []
    if ask.state is AskState.EXPIRED:
        why = f"its question got no answer in time, so it is parked (ask {ask.number}); its work is kept"
        events += stop_events(job, by="silence", why=why) if job.state is not JobState.STOPPING else []
    for row in rows:
        answer = said_by(ask) if ask.state is AskState.ANSWERED else NO_ANSWER
        by = ask.answered_by or "nobody"
        events.append(SignalAnswered(signal=row.id, job=job.id, answer=answer, by=by))
    await _once(journal, *events, key=f"settle:{ask.id}")
    await wake(journal, records, job.id, by=ask.answered_by or "midwatch")


async def wake(journal: Journal, records: Records, job_id: str, *, by: str) -> None:
    """Resume a job that waited for an answer, once none of its questions is open."""
    job = await records.get(JobRow, job_id)
    if job.state is not JobState.WAITING or job.cause != QUESTION or await open_questions(records, job.id):
        return
    woken = JobWoken(job=job.id, epoch=job.epoch, stage=job.stage, attempt=job.attempt, by=by)
    await _once(journal, woken, key=f"woken:{job.id}:{job.epoch}:{job.waits}")


async def open_questions(records: Records, job: str) -> tuple[SignalRow, ...]:
    return await records.find(SignalRow, job=job, state=SignalState.OPEN)


def waits(clock: Clock, job: JobRow, question: str, *, answered: bool) -> JobWaits:
    """Record that a job whose agent has ended waits for an answer, or resumes at once if the answer is known."""
    why = f"It asked a question and exited before the answer: {question}"
    until = clock.now() if answered else None
    return JobWaits(
        job=job.id, epoch=job.epoch, stage=job.stage, attempt=job.attempt, cause=QUESTION, why=why, until=until
    )


async def let_go(journal: Journal, records: Records, job_id: str) -> None:
    """Withdraw the open questions of a job that is over."""
    for ask in await records.find(AskRow, subject=job_id, kind=KIND, state=AskState.OPEN):
        if await is_question(records, ask):
            await withdraw(journal, ask, "the job is over")


async def _once(journal: Journal, *events: Event, key: str) -> None:
    if events and await journal.known(key) is None:
        with contextlib.suppress(Stale, Refused):  # stopped, replaced or settled elsewhere in the same moment
            await journal.record(*events, key=key)
