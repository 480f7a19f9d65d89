"""What check-ins tell together: what was begun and what ended, none of which a person has to act on (SPEC 9)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from midwatch.night.agents.agent_events import turns_of
from midwatch.night.delivery.pull_request_text import ready_text
from midwatch.night.notify.notice import TOLD_TOGETHER
from midwatch.night.rounds.acts import in_words
from midwatch.ports.books import Books
from midwatch.ports.journal import Records
from midwatch.terms.jobs import JobState
from midwatch.terms.records import (
    ActRow,
    AskRow,
    CheckInRow,
    JobRow,
    NoticeRow,
    PastAct,
    ProjectRow,
    PullRequestRow,
    SessionRow,
)
from midwatch.terms.trust import GateOutcome

MOST_LINES: Final = 20
LONGEST_WHY: Final = 200
REPORTED: Final = frozenset({"gate.allowed_tell", "gate.isolation_caps"})
"""The codes of verdicts after which an act may have to be reported."""
TOLD_ENDS: Final = frozenset({JobState.DONE, JobState.FAILED, JobState.NOTHING_DELIVERED})


@dataclass(frozen=True, slots=True)
class News:
    """One thing to say, once a night: `trigger` is what it is known by."""

    trigger: str
    text: str
    ended: bool = False
    """Whether a job is over; what was begun can wait a little longer."""


async def news_of(
    books: Books, session: SessionRow, jobs: Sequence[JobRow], made: Iterable[CheckInRow]
) -> tuple[News, ...]:
    """List what no check-in and no notice of this night has reported yet."""
    known = {part for row in made for part in row.trigger.split(", ")}
    acts = await books.records.find(PastAct, session=session.id, state="done", kind=tuple(TOLD_TOGETHER))
    return (*await _begun(books.records, acts, known), *await _ended(books, jobs, known))


async def _begun(records: Records, acts: Iterable[PastAct], known: set[str]) -> tuple[News, ...]:
    new = tuple(act.id for act in acts if act.code in REPORTED and _act(act) not in known)
    rows = await records.find(ActRow, id=new) if new else ()
    reported = [row for row in rows if row.verdict.outcome is GateOutcome.EXECUTE_AND_TELL]
    names = {row.id: row.name for row in await records.find(ProjectRow, id=tuple({act.project for act in reported}))}
    return tuple(News(_act(act), in_words(act.proposal, names.get(act.project, act.project))) for act in reported)


def _act(act: PastAct) -> str:
    return f"act {act.number}"


async def _ended(books: Books, jobs: Iterable[JobRow], known: set[str]) -> tuple[News, ...]:
    over = [job for job in jobs if job.state in TOLD_ENDS and job.ended_at and _end(job) not in known]
    ids = tuple(job.id for job in over)
    if not ids:
        return ()
    asks = {row.id: row.subject for row in await books.records.find(AskRow, subject=ids)}
    said = await books.records.find(NoticeRow, subject=(*ids, *asks))
    told = {(asks.get(row.subject, row.subject), row.created_at) for row in said}
    pulls = {row.job: row for row in await books.records.find(PullRequestRow, job=ids)}
    found = [
        News(_end(job), text, ended=True)
        for job in over
        if not any(about == job.id and at >= (job.ended_at or at) for about, at in told)
        and (text := await _how_it_ended(books, job, pulls.get(job.id)))
    ]
    return tuple(found)


def _end(job: JobRow) -> str:
    return f"end of job {job.number}"


async def _how_it_ended(books: Books, job: JobRow, pull: PullRequestRow | None) -> str:
    """Say in one line how a job ended; nothing where the person wants no notice of it."""
    notices = books.settings().notices
    if job.state is JobState.DONE:
        if pull is None or not notices.on_complete:
            return ""
        ended = job.ended_at or books.clock.now()
        return " · ".join(ready_text(job, pull, ended, await turns_of(books.journal, job)).splitlines())
    if not notices.on_error:
        return ""
    how = f"failed at {job.stage.said}" if job.state is JobState.FAILED else "delivered nothing"
    return f"Job {job.number} ({job.title}) {how}: {' '.join(job.why.split())[:LONGEST_WHY]}"


async def untold(books: Books, session: SessionRow, jobs: Sequence[JobRow]) -> str:
    """Write what is left to tell when a night ends."""
    made = await books.records.find(CheckInRow, session=session.id)
    return lines(await news_of(books, session, jobs, made))


def due(news: Sequence[News], made: Iterable[CheckInRow], began: datetime, now: datetime, every: timedelta) -> bool:
    """Whether a check-in tells it now: the first end of a job at once, then at the pace of check-ins."""
    told = [row.created_at for row in made if any(_is_news(part) for part in row.trigger.split(", "))]
    if not told and any(one.ended for one in news):
        return True
    return bool(news) and now - max(told, default=began) >= every


def _is_news(part: str) -> bool:
    return part.startswith(("act ", "end of job "))


def lines(news: Sequence[News]) -> str:
    """Write it as lines below a first sentence: what ended, one by one, and in one line what was begun."""
    ended, begun = [one.text for one in news if one.ended], [one.text for one in news if not one.ended]
    more = len(ended) - MOST_LINES
    said = [*ended[:MOST_LINES], *([f"and {more} more: midwatch status"] if more > 0 else [])]
    said += [f"Decided to {'; '.join(begun)}."] if begun else []
    return "".join(f"\n- {one}" for one in said)
