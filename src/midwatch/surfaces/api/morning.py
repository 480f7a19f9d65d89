"""Routes of the morning: the brief, the review, why, replay, rehearsal, and the audit."""

import asyncio
from dataclasses import asdict

from fastapi import APIRouter

from midwatch.compose.house import House
from midwatch.morning import pull_requests
from midwatch.morning import review as verdicts
from midwatch.rules.morning.verdicts import about
from midwatch.settings.zone import clock_of
from midwatch.surfaces.api.access import Answers, Caller, Reads, TheCaller, TheHouse
from midwatch.surfaces.api.day import Shown
from midwatch.surfaces.queries.audit import verify, violations
from midwatch.terms.people import Scope
from midwatch.terms.records import JobRow, PullRequestRow, RunRow, SessionRow
from midwatch.terms.report import Review, ReviewOutcome
from midwatch.terms.term import Term
from midwatch.views.text.names import session_named

router = APIRouter()


class ScoreChange(Term):
    """One run's scores after a review."""

    run: int
    pre: float | None
    post: float | None


class ReviewTaken(Term):
    """What a review changed."""

    session: str
    night: int
    """The night's number; 0 for a command."""
    called: str
    state: str
    scores: tuple[ScoreChange, ...]


class Verified(Term):
    """Whether the hash chain is intact, and which records a rebuild would write differently."""

    entries: int
    broken: str
    differs: tuple[str, ...]


class BrokenPromise(Term):
    """An invariant that is broken, and at which entry; 0 where a record shows it."""

    rule: str
    text: str
    seq: int


class FailedWork(Term):
    """Queued work that failed: the entry that asked for it, and the error."""

    seq: int
    error: str


async def take_review(house: House, review: Review, *, by: Caller, night: str) -> SessionRow:
    """Store the verdicts, then close the pull requests of rejected work, unless the person keeps them open.

    They stay open too where the person may review and not close.
    """
    await house.look_here()
    session = await verdicts.submit(house.books, review, by=by.name, night=night)
    if not by.may(Scope.OPERATE):
        return session
    _, report = await verdicts.last_report(house.records, session.id)
    no = {one.recommendation: one for one in review.outcomes if one.outcome is ReviewOutcome.REJECTED}
    opened = await house.records.find(PullRequestRow, state="open")
    for pull in opened:
        one = about(pull.job, report.recommendations)
        if one is not None and one.id in no and not no[one.id].keep_open:
            job = await house.records.get(JobRow, pull.job)
            await pull_requests.close(
                house.books, house.forges, job, by=by.name, why=no[one.id].reason or "rejected in the review"
            )
    return session


@router.post("/morning/review", dependencies=[Answers], response_model=ReviewTaken)
async def submit(house: TheHouse, caller: TheCaller, given: Review, night: str = "") -> Shown:
    """Submit the person's verdicts and return what they changed."""
    session = await take_review(house, given, by=caller, night=night)
    runs = await house.records.find(RunRow, session=session.id)
    return {
        "session": session.id,
        "night": session.number,
        "called": session_named(session, clock_of(house.loaded.settings)),
        "state": session.state.value,
        "scores": [{"run": run.number, "pre": run.score_pre, "post": run.score_post} for run in runs],
    }


@router.get("/doctor/verify", dependencies=[Reads], response_model=Verified)
async def doctor_verify(house: TheHouse) -> Shown:
    """Walk the hash chain and compare the records with a rebuild."""
    return await asyncio.to_thread(verify, house)


@router.get("/doctor/invariants", dependencies=[Reads], response_model=list[BrokenPromise])
async def doctor_invariants(house: TheHouse) -> list[Shown]:
    """Check the invariants over journal and records."""
    return [asdict(one) for one in await violations(house)]


@router.get("/doctor/queue", dependencies=[Reads], response_model=list[FailedWork])
async def doctor_queue(house: TheHouse) -> list[Shown]:
    """List the queued work that failed and is not tried again."""
    return [{"seq": seq, "error": error} for seq, error in await house.history.failed_work()]
