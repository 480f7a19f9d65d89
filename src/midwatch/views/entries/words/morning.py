"""Entries about evidence, claims, the report and the verdicts in words."""

from typing import assert_never

from midwatch.journal.events.morning import (
    ArtifactKept,
    AssumptionMade,
    ClaimMade,
    EvidenceFound,
    MorningEvent,
    ReportWritten,
    ReviewSubmitted,
    ReviewTimedOut,
    RunScored,
)
from midwatch.journal.events.stack import StackEvent
from midwatch.terms.report import Review
from midwatch.views.entries.groups import Receipts, Reviewing
from midwatch.views.entries.words import stack
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean, counted, spaced


def told(event: MorningEvent, names: Names) -> str:
    """Describe the entries the morning is made of."""
    if isinstance(event, Receipts):
        return _receipts(event)
    if isinstance(event, StackEvent):
        return stack.told(event, names)
    return _reviewing(event, names)


def _receipts(event: Receipts) -> str:
    match event:
        case EvidenceFound(evidence=evidence):
            notes = f" ({clean(evidence.notes, 120)})" if evidence.notes else ""
            text = f"Evidence: {clean(evidence.citation)}{notes}"
        case ClaimMade(claim=claim):
            on = "untested" if claim.hypothesis else f"on {counted(len(claim.evidence), 'piece')} of evidence"
            text = f"Claim ({spaced(claim.strength)}, {on}): {clean(claim.text)}"
        case ArtifactKept():
            text = f"Kept a {spaced(event.type)}: {clean(event.title)}"
        case AssumptionMade(assumption=made):
            impact = spaced(made.impact_if_wrong)
            text = f"Assumed ({made.confidence:.0%} sure, {impact} impact if wrong): {clean(made.statement)}"
        case _:
            assert_never(event)
    return text


def _reviewing(event: Reviewing, names: Names) -> str:
    match event:
        case ReportWritten(brief=brief):
            advice = counted(len(event.recommendations), "recommendation")
            text = f"The brief is ready ({counted(brief.words, 'word')}, {advice}): {clean(brief.headline)}"
        case RunScored(score=score):
            when = "before" if event.phase == "pre" else "after"
            value = "nothing to measure" if score is None else f"{score:.2f}"
            text = f"{names.of(event.run, 'a run').capitalize()} scored {when} review: {value}"
        case ReviewSubmitted(review=review):
            text = f"{clean(event.by)} reviewed the night: {_review(review)}"
        case ReviewTimedOut():
            text = "The review was not given in time; the night is not scored"
        case _:
            assert_never(event)
    return text


def _review(review: Review) -> str:
    flags = f"; flagged {', '.join(spaced(flag.value) for flag in review.flags)}" if review.flags else ""
    ratings = f"usefulness {review.usefulness}, trust {review.trust}, brevity {review.brevity}"
    return f"{ratings}, {counted(len(review.outcomes), 'verdict')}{flags}"
