"""Asks a person what to do when no retry is left; critical if that is so in every ordered project (SPEC 11)."""

from collections.abc import Sequence
from itertools import groupby

from midwatch.journal.events import Event
from midwatch.journal.events.session import AskOpened, SessionPaused
from midwatch.night.notify.notice import job_notice
from midwatch.ports.books import Books
from midwatch.rules.people.asks import GO_ON, SILENCE, STOP, deadline_at, silence_in_words
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.rules.recovery.recovery import remedy_of
from midwatch.rules.recovery.tries import GUIDANCE, failures_of, forgiven_at, project_spent, spent
from midwatch.settings.zone import local_time
from midwatch.terms.asks import AskDraft, AskKind, AskState, Tier
from midwatch.terms.figures import some
from midwatch.terms.jobs import Failure, JobState
from midwatch.terms.projects import SessionState
from midwatch.terms.records import AskRow, JobRow, SessionRow

CAPPED = "No project of the orders may retry any more; everything waits for you."
LONGEST_SAID = 160


async def guidance(
    books: Books, job: JobRow, jobs: Sequence[JobRow], asks: Sequence[AskRow], tier: Tier
) -> tuple[Event, ...]:
    """Open the ask, once per project; nothing while a retry is still allowed."""
    session = await books.records.get(SessionRow, job.session)
    cap = books.settings().jobs.max_retries
    own, looked = [one for one in jobs if one.project == job.project], forgiven_at(asks, job.project, jobs)
    since = forgiven_at(asks, job.project, jobs, job.work_item)
    if session.state is not SessionState.AUTONOMOUS or job.work_item not in _ordered(session):
        return ()
    if not (spent(own, job.work_item, since, cap) or project_spent(own, looked, cap)):
        return ()
    if any(ask.kind in GUIDANCE and ask.state is AskState.OPEN and ask.project == job.project for ask in asks):
        return ()
    kind = AskKind.GUIDANCE_ERROR if _everywhere(session, jobs, asks, cap) else AskKind.GUIDANCE_UNCERTAIN
    critical = kind is AskKind.GUIDANCE_ERROR
    times = books.settings().asks
    minutes = times.guidance_error_minutes if critical else times.guidance_uncertain_minutes
    question = _question(job, failures_of(own, job.work_item, since))
    opened = ask_about(
        books, job, kind, f"{question} {silence_in_words(SILENCE[kind], minutes)}", (GO_ON, STOP), minutes
    )
    loudest = min(tier, tier_of(NoticeKind.CRITICAL_GUIDANCE if critical else NoticeKind.NEEDS_INPUT))
    notice = job_notice(books.ids, job, loudest, question, subject=opened.ask)
    holds = critical and not session.paused
    return opened, notice, *((SessionPaused(session=session.id, why=CAPPED),) if holds else ())


def _ordered(session: SessionRow) -> frozenset[str]:
    return frozenset(item["work_item"] for item in session.items)


def _everywhere(session: SessionRow, jobs: Sequence[JobRow], asks: Sequence[AskRow], cap: int) -> bool:
    """Whether the cap is reached in every ordered project that has work left."""
    return all(_at_its_cap(session, project, jobs, asks, cap) for project in {one["project"] for one in session.items})


SETTLED = frozenset({JobState.DONE, JobState.DECLINED, JobState.NOTHING_DELIVERED})
"""Ends after which nothing is tried again by itself."""


def _at_its_cap(session: SessionRow, project: str, jobs: Sequence[JobRow], asks: Sequence[AskRow], cap: int) -> bool:
    own, since = [one for one in jobs if one.project == project], forgiven_at(asks, project, jobs)
    if project_spent(own, since, cap):
        return True
    settled = {one.work_item for one in own if one.state in SETTLED}
    left = [one["work_item"] for one in session.items if one["project"] == project and one["work_item"] not in settled]
    return bool(left) and all(spent(own, item, forgiven_at(asks, project, jobs, item), cap) for item in left)


def _numbers(tries: Sequence[tuple[int, Failure]]) -> str:
    first, last = tries[0][0], tries[-1][0]
    return f"try {first}" if first == last else f"tries {first} to {last}"


def _ended(one: Failure) -> str:
    return f"{one.stage.said}: {one.said[:LONGEST_SAID].rstrip('. ')}"


def _question(job: JobRow, tried: Sequence[Failure]) -> str:
    """Say what was tried, and what only a person can do about it."""
    remedy = remedy_of(tried[-1].cause if tried else job.cause)
    numbered = list(enumerate(tried, 1))[-3:]
    alike = [list(same) for _, same in groupby(numbered, key=lambda one: (one[1].stage, one[1].said))]
    said = "; ".join(f"{_numbers(same)} at {_ended(same[0][1])}" for same in alike)
    head = f"Job {job.number} ({job.title}) failed after {some(len(tried), 'try', 'tries')}: {remedy.words}."
    return f"{head} Tried: {said}. {remedy.person}"


def ask_about(
    books: Books, job: JobRow, kind: AskKind, question: str, options: tuple[str, ...], minutes: float
) -> AskOpened:
    """Open an ask about a job; its kind decides what no answer means."""
    draft = AskDraft(
        kind=kind,
        question=question,
        options=options,
        recommendation=options[0] if kind in GUIDANCE else options[-1],
        rationale="Its work so far is kept either way.",
        priority=9 if kind is AskKind.GUIDANCE_ERROR else 7,
        deadline_minutes=minutes,
        silence=SILENCE[kind],
        blocking=True,
        subject=job.id,
        project=job.project,
    )
    due = deadline_at(local_time(books.settings(), books.clock.now()), minutes)
    return AskOpened(ask=books.ids.new("ask"), session=job.session, draft=draft, due_at=due)
