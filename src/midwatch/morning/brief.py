"""The debrief: the night's records, ranked, scored before review, within four hundred words."""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

from midwatch.errors import Stale
from midwatch.journal.events import Event
from midwatch.journal.events.morning import ReportWritten, RunScored
from midwatch.journal.events.session import NoticeRaised
from midwatch.morning import brief_text, build_stack, recommendations
from midwatch.morning.run_end import finish
from midwatch.ports.books import Books
from midwatch.ports.journal import Journal, Records
from midwatch.rules.morning import scores
from midwatch.rules.morning.brief import compose_brief
from midwatch.rules.morning.scores import ActDone, guarded
from midwatch.settings.zone import clock_of
from midwatch.terms import records as rec
from midwatch.terms.acts import ActKind
from midwatch.terms.asks import AskState, DeliveryState, Tier
from midwatch.terms.figures import four_digits
from midwatch.terms.preflight import LineState
from midwatch.terms.report import EvidenceKind, Recommendation, ScoreParts
from midwatch.views.pages.preflight import signed_with


@dataclass(frozen=True, slots=True)
class NightRecords:
    """The records of one night."""

    session: rec.SessionRow
    projects: dict[str, rec.ProjectRow]
    jobs: tuple[rec.JobRow, ...]
    runs: tuple[rec.RunRow, ...]
    acts: tuple[rec.ActRow, ...]
    asks: tuple[rec.AskRow, ...]
    pull_requests: tuple[rec.PullRequestRow, ...]
    evidence: tuple[rec.EvidenceRow, ...]
    claims: tuple[rec.ClaimRow, ...]
    assumptions: tuple[rec.AssumptionRow, ...]
    unsent: tuple[tuple[str, str], ...] = ()
    """Channels with notices that were not delivered after all tries."""
    signed_with: str = ""
    """What was known to be wrong when the orders were signed."""
    stacks: tuple[rec.StackRow, ...] = ()
    earlier_runs: tuple[rec.RunRow, ...] = ()
    """Of other sessions, in tonight's projects."""
    earlier_evidence: tuple[rec.EvidenceRow, ...] = ()
    earlier_outcomes: tuple[rec.OutcomeRow, ...] = ()


async def debrief(books: Books, session_id: str) -> None:
    """Write the report once every job and run has ended."""
    session = await books.records.get(rec.SessionRow, session_id)
    if session.debrief_at is None:
        return  # it never ran, or still runs; a night that the next one replaced still gets its report
    ledger = await open_ledger(books.records, session)
    if any(not job.state.over for job in ledger.jobs):
        return  # the last job to end calls this again
    if any(run.status == "running" for run in ledger.runs):
        await _finish_begun(books.journal, books.records, ledger)  # its entries call this again
        return
    key = f"report:{session.id}"
    if await books.journal.known(key) is not None:
        return
    if await build_stack.begin_at_dawn(books, session):
        return  # the last stack calls this again
    ledger = replace(ledger, stacks=await books.records.find(rec.StackRow, session=session.id))
    try:
        await books.journal.record(*_report(books, ledger), key=key)
    except Stale:
        return  # another worker wrote it


async def _finish_begun(journal: Journal, records: Records, ledger: NightRecords) -> None:
    """Finish the runs with a part that never started; a run whose last job is just being closed ends there."""
    for run in ledger.runs:
        mine = [job for job in ledger.jobs if job.run == run.id]
        closed = [await journal.known(f"close:{job.id}") for job in mine]
        if run.status == "running" and None not in closed:
            over = await finish(records, run.id)
            with contextlib.suppress(Stale):
                await journal.record(*over)


async def open_ledger(records: Records, session: rec.SessionRow) -> NightRecords:
    runs = await records.find(rec.RunRow, session=session.id)
    mine = tuple(run.id for run in runs)
    here = tuple({run.project for run in runs})
    earlier = tuple(one for one in await records.find(rec.RunRow, project=here) if one.session != session.id)
    before = tuple(one.id for one in earlier)
    return NightRecords(
        session=session,
        projects={row.id: row for row in await records.find(rec.ProjectRow)},
        jobs=await records.find(rec.JobRow, session=session.id),
        runs=runs,
        acts=await records.find(rec.ActRow, session=session.id),
        asks=await records.find(rec.AskRow, session=session.id),
        pull_requests=await records.find(rec.PullRequestRow, run=mine),
        evidence=await records.find(rec.EvidenceRow, run=mine),
        claims=await records.find(rec.ClaimRow, run=mine),
        assumptions=await records.find(rec.AssumptionRow, run=mine),
        unsent=await _unsent(records, session),
        signed_with=await _signed_with(records, session),
        earlier_runs=earlier,
        earlier_evidence=await records.find(rec.EvidenceRow, run=before) if before else (),
        earlier_outcomes=await records.find(rec.OutcomeRow, run=before) if before else (),
    )


async def _unsent(records: Records, session: rec.SessionRow) -> tuple[tuple[str, str], ...]:
    rows = await records.find(rec.DeliveryRow, session=session.id, state=DeliveryState.FAILED)
    result = {one.id: one.text for one in await records.find(rec.NoticeRow, session=session.id)} if rows else {}
    return tuple((row.channel, result[row.notice]) for row in rows)


async def _signed_with(records: Records, session: rec.SessionRow) -> str:
    looks = await records.find(rec.PreflightRow, id=session.preflight) if session.preflight else ()
    if not looks:
        return ""
    bad = await records.find(rec.PreflightLineRow, preflight=session.preflight, state=LineState.BAD)
    return signed_with(bad, error=looks[0].error)


def _report(books: Books, ledger: NightRecords) -> tuple[Event, ...]:
    session = ledger.session
    queue = recommendations.recommend(
        recommendations.QueueFacts(
            session=session,
            projects=ledger.projects,
            jobs=ledger.jobs,
            acts=ledger.acts,
            pull_requests=ledger.pull_requests,
            evidence=ledger.evidence,
            new_id=books.ids.new,
        )
    )
    recommended, flags = guarded(queue, ledger.claims, ledger.evidence)
    waiting = [ask for ask in ledger.asks if ask.state is AskState.OPEN]
    settings = books.settings()
    review = settings.review
    due = books.clock.now() + timedelta(hours=review.due_hours)
    to_local = clock_of(settings)
    told = brief_text.BriefFacts(
        ledger,
        recommended,
        waiting,
        flags,
        review_due_at=to_local(due),
        to_local=to_local,
    )
    sections = brief_text.sections(told)
    brief = compose_brief(brief_text.headline(ledger, to_local), sections, most_words=review.brief_max_words)
    report = ReportWritten(
        report=books.ids.new("rep"),
        session=session.id,
        brief=brief,
        recommendations=recommended,
        decisions=tuple(ask.id for ask in waiting),
        review_due_at=due,
        guardrails=flags,
    )
    scored = [_score_before_review(ledger, run, recommended) for run in ledger.runs]
    notice = NoticeRaised(
        notice=books.ids.new("ntc"), session=session.id, tier=Tier.ACTION, text=brief.headline, subject=report.report
    )
    return (report, *scored) if session.ad_hoc else (report, *scored, notice)  # the job reports the end of a command


def _score_before_review(ledger: NightRecords, run: rec.RunRow, recommended: tuple[Recommendation, ...]) -> RunScored:
    """Score one run by the formulas (N15, RULES 6).

    One that delivered nothing, or recommends nothing, has nothing to decide on.
    """
    items = [row for row in ledger.evidence if row.run == run.id]
    claims = [row for row in ledger.claims if row.run == run.id]
    mine = [one for one in recommended if one.run == run.id]
    parts = ScoreParts(
        alignment=scores.alignment(_acts(ledger, run)),
        evidence=scores.evidence_score(items, claims),
        novelty=scores.novelty(_findings(items), _findings(ledger.earlier_evidence)),
        readiness=scores.readiness(mine),
    )
    if run.status in scores.UNDELIVERED or not mine:
        parts = parts.model_copy(update={"evidence": 0.0, "readiness": 0.0})
    return RunScored(run=run.id, phase="pre", parts=parts, score=four_digits(scores.pre(parts)))


def _acts(ledger: NightRecords, run: rec.RunRow) -> list[ActDone]:
    """List what was done for this run, and what was done for nothing that was ordered: that counts against each run."""
    jobs = {job.id: job.work_item for job in ledger.jobs}
    serves = {item["work_item"] for item in ledger.session.items} | set(jobs) | set(jobs.values())
    serves |= {*run.contract.goal_links, *(item["project"] for item in ledger.session.items)}
    started = {job.act for job in ledger.jobs if job.run == run.id}
    own = {name for job in ledger.jobs if job.run == run.id for name in (job.id, job.work_item, job.project)}
    return [
        ActDone(kind=ActKind(act.kind), target=act.about, linked=act.about in serves, fresh=bool(act.result))
        for act in ledger.acts
        if act.state == "done" and (act.id in started or act.about in own or act.about not in serves)
    ]


def _findings(items: Iterable[rec.EvidenceRow]) -> list[str]:
    """Name each finding by its file and what it is: lines move, and a check that was run is no finding."""
    found = [item for item in items if item.kind is EvidenceKind.REPO]
    return [f"{item.citation.split('@')[0].rpartition(':')[0]} {item.notes}" for item in found]
