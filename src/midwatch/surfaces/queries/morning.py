"""Reads of the morning: the brief, why, replay, rehearsal."""

from collections.abc import Mapping

from midwatch.compose.read_side import ReadSide
from midwatch.journal.events.session import ActJudged
from midwatch.morning import review as verdicts
from midwatch.rules.gate.rehearsal import Rehearsal
from midwatch.rules.gate.rehearsal import rehearse as rehearse_at
from midwatch.settings.zone import clock_of
from midwatch.surfaces.queries.job_stories import prompt_text
from midwatch.surfaces.queries.reads import Page, ReadTable, fields
from midwatch.surfaces.queries.replay import every_entry, replay_page
from midwatch.surfaces.queries.why import why_advice, why_entry
from midwatch.terms.records import (
    AssumptionRow,
    EvidenceRow,
    JobRow,
    OutcomeRow,
    ProjectRow,
    PullRequestRow,
    RunRow,
    SessionRow,
)
from midwatch.terms.report import Brief, Recommendation
from midwatch.terms.term import Term
from midwatch.terms.trust import Level
from midwatch.views.entries.advice import AdviceExplained
from midwatch.views.entries.replay import Gap, PromptUsed, Row
from midwatch.views.entries.tags import Tag
from midwatch.views.entries.why import Explanation
from midwatch.views.pages.morning_items import since_then, text_now
from midwatch.views.text.names import session_named

READS = ReadTable()


class AdviceGiven(Recommendation):
    """A recommendation as it is now, with the person's verdict so far."""

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
    """The night's number; 0 for a command."""
    called: str
    state: str
    report: str
    brief: Brief
    since: tuple[str, ...]
    """What became of its pull requests after the brief was written."""
    recommendations: tuple[AdviceGiven, ...]
    decisions: tuple[str, ...]
    evidence: tuple[EvidenceRow, ...]
    assumptions: tuple[AssumptionRow, ...]
    runs: tuple[RunScores, ...]


class PromptWords(PromptUsed):
    """The full prompt of an agent."""

    text: str


class ReplayRow(Row):
    """One entry as a reader sees it, with the prompt of an agent that began."""

    prompt: PromptWords | None = None


@READS.at("/morning")
async def morning(house: ReadSide, night: str = "") -> MorningShown:
    """Return the brief with its recommendations, evidence, assumptions and scores.

    Of the newest night; of another by its number, and of a command by its session's id.
    """
    await house.look_here()
    session, report = await verdicts.last_report(house.records, night)
    runs = await house.records.find(RunRow, session=session.id)
    mine = tuple(run.id for run in runs)
    pulls = {row.job: row for row in await house.records.find(PullRequestRow, run=mine)}
    jobs = await house.records.find(JobRow, session=session.id)
    projects = await house.records.find(ProjectRow)
    outcomes = {row.id: row.outcome for row in await house.records.find(OutcomeRow, session=session.id)}
    return MorningShown(
        session=session.id,
        night=session.number,
        called=session_named(session, clock_of(house.loaded.settings)),
        state=session.state.value,
        report=report.id,
        brief=report.brief,
        since=since_then(report, pulls.values(), jobs, projects),
        recommendations=tuple(
            _advice(one, text_now(one, _pull_of(one, pulls), jobs, projects), outcomes)
            for one in report.recommendations
        ),
        decisions=report.decisions,
        evidence=await house.records.find(EvidenceRow, run=mine),
        assumptions=await house.records.find(AssumptionRow, run=mine),
        runs=tuple(
            RunScores(id=run.id, number=run.number, score_pre=run.score_pre, score_post=run.score_post) for run in runs
        ),
    )


def _pull_of(one: Recommendation, pulls: Mapping[str, PullRequestRow]) -> PullRequestRow | None:
    return pulls.get(one.why.removeprefix("trace:")) if one.became else None


def _advice(one: Recommendation, text: str, outcomes: Mapping[str, str]) -> AdviceGiven:
    now = {"text": text, "ask": one.ask if text == one.text else ""}
    return AdviceGiven(**fields(one) | now, outcome=outcomes.get(one.id, "pending"))


@READS.at("/rehearse")
async def rehearse(house: ReadSide, level: Level, night: str = "") -> Rehearsal:
    """Run the recorded proposals through the same gate at another level."""
    wanted = (await house.records.get(SessionRow, night)).id if night else ""
    entries = await every_entry(house, kinds=("act.judged",))
    judged = [one.event for one in entries if isinstance(one.event, ActJudged)]
    return rehearse_at([one for one in judged if not wanted or one.session == wanted], level)


@READS.at("/replay")
async def replay(house: ReadSide, page: Page, night: str = "", tag: Tag | None = None) -> list[ReplayRow | Gap]:
    """Return the timeline of a night, or of everything, in pages."""
    found = await replay_page(house, night=night, tag=tag, after=page.after, limit=page.limit)
    page.next = found.next
    return [await _with_words(house, one) for one in found.rows]


async def _with_words(house: ReadSide, row: Row | Gap) -> ReplayRow | Gap:
    """Add the full prompt of an agent to the entry it began with."""
    if isinstance(row, Gap):
        return row
    result = row.prompt and PromptWords(**fields(row.prompt), text=await prompt_text(house, row.prompt.prompt_blob))
    return ReplayRow(**fields(row) | {"prompt": result})


@READS.at("/why/{name}")
async def why(house: ReadSide, name: str) -> Explanation | AdviceExplained:
    """Answer `why this?` for an entry or a recommendation."""
    if name.isdecimal():
        _, result = await why_entry(house, int(name) if len(name) < 19 else 0)
        return result
    return await why_advice(house, name)
