"""Evidence, claims, the report, verdicts and scores."""

import sqlalchemy as sa

from midwatch.journal.entry import Entry
from midwatch.journal.events import morning as ev
from midwatch.journal.events import stack as stack_events
from midwatch.store.projectors.rows import adjust, begin, change, clear_timer, on, row, set_timer
from midwatch.store.schema.tables import (
    artifacts,
    assumptions,
    claims,
    evaluations,
    evidence_items,
    outcomes,
    pull_requests,
    reports,
    runs,
    stacks,
)
from midwatch.terms.report import ReviewOutcome
from midwatch.terms.stack import StackState


@on(ev.EvidenceFound)
def evidence_found(c: sa.Connection, entry: Entry, event: ev.EvidenceFound) -> None:
    """It can be looked up again."""
    begin(c, entry, evidence_items, event.evidence.id, event.evidence, event, retrieved_at=entry.at)


@on(ev.ClaimMade)
def claim_made(c: sa.Connection, entry: Entry, event: ev.ClaimMade) -> None:
    begin(c, entry, claims, event.claim.id, event.claim, event)


@on(ev.ArtifactKept)
def artifact_kept(c: sa.Connection, entry: Entry, event: ev.ArtifactKept) -> None:
    """The bytes are a blob; here is where to find them."""
    begin(c, entry, artifacts, event.artifact, event)


@on(ev.AssumptionMade)
def assumption_made(c: sa.Connection, entry: Entry, event: ev.AssumptionMade) -> None:
    """Open until the review."""
    begin(c, entry, assumptions, event.assumption.id, event.assumption, event, status="open")


@on(ev.AssumptionSettled)
def assumption_settled(c: sa.Connection, _: Entry, event: ev.AssumptionSettled) -> None:
    """A second review may change the verdict of the first."""
    change(c, assumptions, {"id": event.assumption}, status=event.status)


@on(ev.ReportWritten)
def report_written(c: sa.Connection, entry: Entry, event: ev.ReportWritten) -> None:
    """Every run gets a pending evaluation, every recommendation a pending outcome (seed 002, 17.2)."""
    begin(c, entry, reports, event.report, event)
    for run in (
        c.execute(sa.select(runs).where(runs.c.session == event.session).order_by(runs.c.number)).mappings().all()
    ):
        pending = {"capture_status": "pending", "due_at": event.review_due_at}
        name = f"eva_{run['id'].removeprefix('run_')}"
        begin(c, entry, evaluations, name, event, run=run["id"], project=run["project"], **pending)
    for one in event.recommendations:
        begin(c, entry, outcomes, one.id, event, run=one.run, outcome=ReviewOutcome.PENDING)
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


def _timer(stack: str) -> str:
    return f"stack:{stack}"


@on(stack_events.StackBegun)
def stack_begun(c: sa.Connection, entry: Entry, event: stack_events.StackBegun) -> None:
    """A timer ends it, even if its maker dies."""
    begin(c, entry, stacks, event.stack, event, state=StackState.MAKING)
    set_timer(c, _timer(event.stack), "stack", event.stack, event.due_at)


@on(stack_events.StackMade)
def stack_made(c: sa.Connection, entry: Entry, event: stack_events.StackMade) -> None:
    """Once: a later result, or one after the time-out, is refused."""
    fields = event.model_dump(mode="json", exclude={"kind", "stack", "session", "project"})
    where = {"id": event.stack, "state": StackState.MAKING}
    change(c, stacks, where, **fields, state=StackState.MADE, made_at=entry.at)
    clear_timer(c, _timer(event.stack))


@on(stack_events.StackMerged)
def stack_merged(c: sa.Connection, entry: Entry, event: stack_events.StackMerged) -> None:
    """A person's act; the pull requests in it are recorded beside it, each by its own entry."""
    change(
        c,
        stacks,
        {"id": event.stack, "state": StackState.MADE},
        state=StackState.MERGED,
        settled_by=event.by,
        undo=event.undo,
        settled_at=entry.at,
    )


@on(stack_events.StackCommented)
def stack_commented(c: sa.Connection, entry: Entry, event: stack_events.StackCommented) -> None:
    """A person's act; what follows from it happens elsewhere."""
    where = {"id": event.stack, "state": StackState.MADE}
    change(c, stacks, where, state=StackState.COMMENTED, settled_by=event.by, settled_at=entry.at)


@on(stack_events.StackUndone)
def stack_undone(c: sa.Connection, _: Entry, event: stack_events.StackUndone) -> None:
    """The order is offered again, and so is every pull request in it."""
    where = {"id": event.stack, "state": StackState.MERGED}
    change(c, stacks, where, state=StackState.MADE, settled_by="", undo=(), settled_at=None)
    for name in event.pull_requests:
        gone = {"id": name, "state": "merged"}
        change(c, pull_requests, gone, state="open", merged_sha="", undo=(), closed_at=None)
