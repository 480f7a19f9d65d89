"""Evidence, claims, the report, verdicts and scores."""

import sqlalchemy as sa

from midwatch.journal.entry import Entry
from midwatch.journal.events import morning as ev
from midwatch.store.projectors.rows import adjust, change, clear_timer, insert, on, row, set_timer
from midwatch.store.schema.tables import (
    artifacts,
    assumptions,
    claims,
    evaluations,
    evidence_items,
    outcomes,
    reports,
    runs,
)
from midwatch.terms.report import ReviewOutcome


@on(ev.EvidenceFound)
def evidence_found(c: sa.Connection, entry: Entry, event: ev.EvidenceFound) -> None:
    """It can be looked up again."""
    fields = event.evidence.model_dump(mode="json")
    insert(c, evidence_items, **fields, run=event.run, project=event.project, job=event.job, retrieved_at=entry.at)


@on(ev.ClaimMade)
def claim_made(c: sa.Connection, entry: Entry, event: ev.ClaimMade) -> None:
    fields = event.claim.model_dump(mode="json")
    insert(c, claims, **fields, run=event.run, project=event.project, created_at=entry.at)


@on(ev.ArtifactKept)
def artifact_kept(c: sa.Connection, entry: Entry, event: ev.ArtifactKept) -> None:
    """The bytes are a blob; here is where to find them."""
    fields = event.model_dump(mode="json", exclude={"kind", "artifact"})
    insert(c, artifacts, **fields, id=event.artifact, created_at=entry.at)


@on(ev.AssumptionMade)
def assumption_made(c: sa.Connection, entry: Entry, event: ev.AssumptionMade) -> None:
    """Open until the review."""
    fields = event.assumption.model_dump(mode="json")
    insert(c, assumptions, **fields, run=event.run, project=event.project, status="open", created_at=entry.at)


@on(ev.ReportWritten)
def report_written(c: sa.Connection, entry: Entry, event: ev.ReportWritten) -> None:
    """Every run gets a pending evaluation, every recommendation a pending outcome (seed 002, 17.2)."""
    insert(
        c,
        reports,
        id=event.report,
        session=event.session,
        brief=event.brief,
        recommendations=event.recommendations,
        decisions=event.decisions,
        created_at=entry.at,
    )
    for run in (
        c.execute(sa.select(runs).where(runs.c.session == event.session).order_by(runs.c.number)).mappings().all()
    ):
        insert(
            c,
            evaluations,
            id=f"eva_{run['id'].removeprefix('run_')}",
            run=run["id"],
            session=event.session,
            project=run["project"],
            capture_status="pending",
            flags=(),
            notes="",
            due_at=event.review_due_at,
            created_at=entry.at,
        )
    for one in event.recommendations:
        insert(
            c,
            outcomes,
            id=one.id,
            run=one.run,
            session=event.session,
            outcome=ReviewOutcome.PENDING,
            reason="",
            created_at=entry.at,
        )
    set_timer(c, f"review:{event.session}", "review", event.session, event.review_due_at)


@on(ev.RunScored)
def run_scored(c: sa.Connection, _: Entry, event: ev.RunScored) -> None:
    """By the formulas, before and after review."""
    scores = dict(row(c, runs, event.run)["scores"]) | {event.phase: event.parts.model_dump(mode="json")}
    score = {"score_pre": event.score} if event.phase == "pre" else {"score_post": event.score}
    change(c, runs, {"id": event.run}, scores=scores, **score)


@on(ev.ReviewSubmitted)
def review_submitted(c: sa.Connection, entry: Entry, event: ev.ReviewSubmitted) -> None:
    """The night's ratings go to each of its runs; outcomes to their recommendation."""
    given = event.review
    adjust(
        c,
        evaluations,
        {"session": event.session, "capture_status": ("pending", "submitted", "timeout")},
        capture_status="submitted",
        usefulness=given.usefulness,
        trust=given.trust,
        brevity=given.brevity,
        flags=given.flags,
        notes=given.notes,
        submitted_at=entry.at,
    )
    for one in given.outcomes:
        change(
            c,
            outcomes,
            {"id": one.recommendation, "session": event.session},
            outcome=one.outcome,
            reason=one.reason,
        )
    clear_timer(c, f"review:{event.session}")


@on(ev.ReviewTimedOut)
def review_timed_out(c: sa.Connection, _: Entry, event: ev.ReviewTimedOut) -> None:
    adjust(c, evaluations, {"session": event.session, "capture_status": "pending"}, capture_status="timeout")
    clear_timer(c, f"review:{event.session}")
