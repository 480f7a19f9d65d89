"""Routes of the morning: the brief, the review, why, replay, rehearsal, and the audit."""

import asyncio
from dataclasses import asdict

from fastapi import APIRouter

from midwatch.compose import House
from midwatch.journal.events.session import ActJudged
from midwatch.morning import review as verdicts
from midwatch.rules.gate.rehearsal import Rehearsal
from midwatch.rules.gate.rehearsal import rehearse as rehearse_at
from midwatch.surfaces.api.access import Answers, Person, Reads, TheHouse
from midwatch.surfaces.api.day import Shown, shown
from midwatch.surfaces.api.paging import Onward, PageSize, Place
from midwatch.surfaces.queries.audit import every_entry, verify, violations
from midwatch.surfaces.queries.job_stories import prompt_text
from midwatch.surfaces.queries.replay import replay_page
from midwatch.surfaces.queries.why import why_advice, why_entry
from midwatch.terms.records import AssumptionRow, EvidenceRow, OutcomeRow, RunRow, SessionRow
from midwatch.terms.report import Brief, Recommendation, Review
from midwatch.terms.term import Term
from midwatch.terms.trust import Level
from midwatch.views.entries.advice import AdviceExplained
from midwatch.views.entries.replay import Gap, PromptUsed, Row
from midwatch.views.entries.tags import Tag
from midwatch.views.entries.why import Explanation

router = APIRouter()


class AdviceGiven(Recommendation):
    """A recommendation with the person's verdict so far."""

    outcome: str


class RunScores(Term):
    """A run's scores before and after the review."""

    id: str
    number: int
    score_pre: float | None
    score_post: float | None


class MorningShown(Term):
    """The brief with its recommendations, evidence, assumptions and scores."""

    session: str
    night: int
    state: str
    report: str
    brief: Brief
    recommendations: tuple[AdviceGiven, ...]
    decisions: tuple[str, ...]
    evidence: tuple[EvidenceRow, ...]
    assumptions: tuple[AssumptionRow, ...]
    runs: tuple[RunScores, ...]


class ScoreChange(Term):
    """One run's scores after a review."""

    run: int
    pre: float | None
    post: float | None


class ReviewTaken(Term):
    """What a review changed."""

    session: str
    night: int
    state: str
    scores: tuple[ScoreChange, ...]


class PromptWords(PromptUsed):
    """The full prompt of an agent."""

    text: str


class ReplayRow(Row):
    """One entry as a reader sees it, with the prompt of an agent that began."""

    told: PromptWords | None = None


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


@router.get("/morning", dependencies=[Reads], response_model=MorningShown)
async def morning(house: TheHouse, night: str = "") -> Shown:
    """Return the brief with its recommendations, evidence, assumptions and scores."""
    session, report = await verdicts.last_report(house.morning, night)
    runs = await house.records.find(RunRow, session=session.id)
    mine = tuple(run.id for run in runs)
    outcomes = {row.id: row.outcome for row in await house.records.find(OutcomeRow, session=session.id)}
    return {
        "session": session.id,
        "night": session.number,
        "state": session.state.value,
        "report": report.id,
        "brief": shown(report.brief),
        "recommendations": [
            shown(one) | {"outcome": outcomes.get(one.id, "pending")} for one in report.recommendations
        ],
        "decisions": list(report.decisions),
        "evidence": [shown(row) for row in await house.records.find(EvidenceRow, run=mine)],
        "assumptions": [shown(row) for row in await house.records.find(AssumptionRow, run=mine)],
        "runs": [
            {"id": run.id, "number": run.number, "score_pre": run.score_pre, "score_post": run.score_post}
            for run in runs
        ],
    }


@router.post("/morning/review", dependencies=[Answers], response_model=ReviewTaken)
async def submit(house: TheHouse, person: Person, given: Review, night: str = "") -> Shown:
    """Submit the person's verdicts and return what they changed."""
    session = await verdicts.submit(house.morning, given, by=person, night=night)
    runs = await house.records.find(RunRow, session=session.id)
    return {
        "session": session.id,
        "night": session.number,
        "state": session.state.value,
        "scores": [{"run": run.number, "pre": run.score_pre, "post": run.score_post} for run in runs],
    }


@router.get("/rehearse", dependencies=[Reads], response_model=Rehearsal)
async def rehearse(house: TheHouse, level: Level, night: str = "") -> Shown:
    """Run the recorded proposals through the same gate at another level."""
    wanted = (await house.records.get(SessionRow, night)).id if night else ""
    entries = await every_entry(house, kinds=("act.judged",))
    judged = [one.event for one in entries if isinstance(one.event, ActJudged)]
    rehearsed = rehearse_at([one for one in judged if not wanted or one.session == wanted], level)
    return rehearsed.model_dump(mode="json")


@router.get("/replay", dependencies=[Reads], response_model=list[ReplayRow | Gap])
async def replay(
    house: TheHouse, page: Onward, night: str = "", tag: Tag | None = None, after: Place = 0, limit: PageSize = 1000
) -> list[Shown]:
    """Return the timeline of a night, or of everything, in pages."""
    found = await replay_page(house, night=night, tag=tag, after=after, limit=limit)
    page.goes_on(found.next)
    return [await _with_words(house, one) for one in found.rows]


async def _with_words(house: House, row: Row | Gap) -> Shown:
    """Add the full prompt of an agent to the entry it began with."""
    given = shown(row)
    if isinstance(row, Row) and row.told is not None:
        given["told"]["text"] = await prompt_text(house, row.told.prompt_blob)
    return given


@router.get("/why/{name}", dependencies=[Reads])
async def why(house: TheHouse, name: str) -> Explanation | AdviceExplained:
    """Answer `why this?` for an entry or a recommendation."""
    if name.isdecimal():
        _, told = await why_entry(house, int(name) if len(name) < 19 else 0)
        return told
    return await why_advice(house, name)


@router.get("/doctor/verify", dependencies=[Reads], response_model=Verified)
async def doctor_verify(house: TheHouse) -> Shown:
    """Walk the hash chain and compare the records with a rebuild."""
    return await asyncio.to_thread(verify, house)


@router.get("/doctor/invariants", dependencies=[Reads], response_model=list[BrokenPromise])
async def doctor_invariants(house: TheHouse) -> list[Shown]:
    """Check the invariants over journal and records."""
    return [asdict(one) for one in await violations(house)]
