"""Entries about evidence, claims, the report and the verdicts in words."""

from typing import assert_never

from midwatch.journal.events import morning as ev
from midwatch.journal.events import stack as stack_events
from midwatch.journal.events.stack import StackEvent
from midwatch.terms.figures import some
from midwatch.terms.report import Review
from midwatch.terms.stack import StackVerdict
from midwatch.views.entries.groups import Receipts, Reviewing
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean, spaced


def sentence(event: ev.MorningEvent, names: Names) -> str:
    """Describe the entries the morning is made of."""
    if isinstance(event, Receipts):
        return _receipts(event)
    if isinstance(event, StackEvent):
        return stack_sentence(event, names)
    return _reviewing(event, names)


def _receipts(event: Receipts) -> str:
    match event:
        case ev.EvidenceFound(evidence=evidence):
            notes = f" ({clean(evidence.notes, 120)})" if evidence.notes else ""
            text = f"Evidence: {clean(evidence.citation)}{notes}"
        case ev.ClaimMade(claim=claim):
            on = "untested" if claim.hypothesis else f"on {some(len(claim.evidence), 'piece')} of evidence"
            text = f"Claim ({spaced(claim.strength)}, {on}): {clean(claim.text)}"
        case ev.ArtifactKept():
            text = f"Kept a {spaced(event.type)}: {clean(event.title)}"
        case ev.AssumptionMade(assumption=made):
            impact = spaced(made.impact_if_wrong)
            text = f"Assumed ({made.confidence:.0%} sure, {impact} impact if wrong): {clean(made.statement)}"
        case _:
            assert_never(event)
    return text


def _reviewing(event: Reviewing, names: Names) -> str:
    match event:
        case ev.ReportWritten(brief=brief):
            advice = some(len(event.recommendations), "recommendation")
            text = f"The brief is ready ({some(brief.words, 'word')}, {advice}): {clean(brief.headline)}"
        case ev.RunScored(score=score):
            when = "before" if event.phase == "pre" else "after"
            value = "nothing to measure" if score is None else f"{score:.2f}"
            text = f"{names.of(event.run, 'a run').capitalize()} scored {when} review: {value}"
        case ev.ReviewSubmitted(review=review):
            text = f"{clean(event.by)} reviewed {names.whose(event.session)}: {_review(review)}"
        case ev.AssumptionSettled(statement=statement):
            text = f"{clean(event.by)} {event.status} the assumption: {clean(statement)}"
        case ev.ReviewTimedOut():
            text = f"The review was not given in time; {names.whose(event.session)} is not scored"
        case _:
            assert_never(event)
    return text


def _review(review: Review) -> str:
    flags = f"; flagged {', '.join(spaced(flag.value) for flag in review.flags)}" if review.flags else ""
    ratings = f"usefulness {review.usefulness}, trust {review.trust}, brevity {review.brevity}"
    return f"{ratings}, {some(len(review.outcomes), 'verdict')}{flags}"


def stack_sentence(event: stack_events.StackEvent, names: Names) -> str:
    called = names.of(event.stack, "the stack")
    match event:
        case stack_events.StackBegun():
            where = f"in {names.project(event.project)} into {clean(event.into)}"
            return f"{clean(event.by)} started a merge check {where}"
        case stack_events.StackMade():
            return _made(event, names)
        case stack_events.StackMerged():
            return f"{clean(event.by)} merged {called} as {clean(event.sha[:12])}"
        case stack_events.StackCommented():
            pulls = some(len(event.pull_requests), "pull request")
            return f"{clean(event.by)} posted the merge order of {called} on {pulls}"
        case stack_events.StackUndone():
            return f"{clean(event.by)} undid {called}; {some(len(event.pull_requests), 'pull request')} open again"
    assert_never(event)


def _made(event: stack_events.StackMade, names: Names) -> str:
    where = f"Stack in {names.project(event.project)}"
    if event.verdict is StackVerdict.FAILED:
        return f"{where}: not made. {clean(event.why)}"
    together = f"{len(event.order)} of {some(len(event.order) + len(event.left_out), 'branch', 'branches')}"
    runs = some(event.check_runs, "check run")
    out = f"; left out: {', '.join(f'pull request {one.number}' for one in event.left_out)}" if event.left_out else ""
    return f"{where}: {together} together, {spaced(event.verdict.value)} after {runs}{out}"
