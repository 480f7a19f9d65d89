"""The newest night as one value, folded over the journal: live, in replay and after a restart the same."""

from typing import assert_never

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events.crew import CrewEvent
from midwatch.journal.events.jobs import BoxEvent, JobEvent
from midwatch.journal.events.morning import (
    ArtifactKept,
    AssumptionMade,
    AssumptionSettled,
    ClaimMade,
    EvidenceFound,
    MorningEvent,
    ReportWritten,
    ReviewSubmitted,
    ReviewTimedOut,
    RunScored,
)
from midwatch.journal.events.notices import NoticeEvent
from midwatch.journal.events.people import PeopleEvent
from midwatch.journal.events.preflight import PreflightEvent
from midwatch.journal.events.projects import LevelChanged, ProjectEvent
from midwatch.journal.events.session import SessionEvent
from midwatch.journal.events.signals import SignalEvent
from midwatch.journal.events.stack import StackEvent, StackUndone
from midwatch.journal.events.workshop import WorkshopEvent
from midwatch.terms.projects import SessionState
from midwatch.views.entries.describe import describe
from midwatch.views.entries.groups import Receipts, Reviewing
from tests.crash.oracle import night_course, night_jobs, night_told
from tests.crash.oracle.alike import normalised
from tests.crash.oracle.seen import LastSeen, NightView, altered, changed
from tests.views.learned_names import introduce

__all__ = ["NightView", "apply", "normalised", "start"]


def start() -> NightView:
    """Before the first entry there is no night."""
    return NightView()


def apply(view: NightView, entry: Entry) -> NightView:
    """Let one entry happen to the view."""
    event = entry.event
    known = altered(view, names=introduce(view.names, event, entry.at))
    told = LastSeen(seq=entry.seq, at=entry.at, text=describe(event, known.names))
    return altered(_happened(known, entry, event), last=told)


def _happened(view: NightView, entry: Entry, event: Event) -> NightView:
    if isinstance(event, ProjectEvent):
        return _house(view, event)
    if isinstance(event, SessionEvent):
        return night_course.happened(view, entry, event)
    if isinstance(event, JobEvent):
        return night_jobs.happened(view, event)
    if isinstance(event, MorningEvent):
        return _morning(view, event)
    return _around(view, event)


def _around(
    view: NightView,
    event: BoxEvent | NoticeEvent | PeopleEvent | WorkshopEvent | CrewEvent | SignalEvent | PreflightEvent,
) -> NightView:
    if isinstance(event, BoxEvent):
        return night_jobs.boxed(view, event)
    if isinstance(event, NoticeEvent):
        return night_told.happened(view, event)
    if isinstance(event, PeopleEvent | WorkshopEvent | CrewEvent | SignalEvent | PreflightEvent):
        return view
    assert_never(event)


def _house(view: NightView, event: ProjectEvent) -> NightView:
    """Of the house only the level shows; a night under way is lowered at once, a finished one keeps its own."""
    if isinstance(event, LevelChanged) and event.session not in {"", view.session}:
        return view
    if isinstance(event, LevelChanged) and view.state in {None, SessionState.AUTONOMOUS}:
        level = event.level
        if not event.session and event.lowers is not None and view.level is not None:
            level = min(level, view.level, key=lambda one: one.rank)
        return altered(view, level=level)
    return view


def _morning(view: NightView, event: MorningEvent) -> NightView:
    if isinstance(event, StackEvent):
        return _stack(view, event)
    return _receipts(view, event) if isinstance(event, Receipts) else _reviewing(view, event)


def _stack(view: NightView, event: StackEvent) -> NightView:
    """A stack's own entries say what is offered; only taking it back opens pull requests that were merged."""
    for name in event.pull_requests if isinstance(event, StackUndone) else ():
        view = altered(view, pull_requests=changed(view.pull_requests, name, state="open"))
    return view


def _receipts(view: NightView, event: Receipts) -> NightView:
    if all(event.run != run.id for run in view.runs):
        return view
    match event:
        case EvidenceFound():
            after = altered(view, evidence=view.evidence + 1)
        case ClaimMade():
            after = altered(view, claims=view.claims + 1)
        case ArtifactKept():
            after = altered(view, artifacts=view.artifacts + 1)
        case AssumptionMade():
            after = altered(view, assumptions=view.assumptions + 1)
        case _:
            assert_never(event)
    return after


def _reviewing(view: NightView, event: Reviewing) -> NightView:
    if isinstance(event, RunScored):
        score = {"score_pre": event.score} if event.phase == "pre" else {"score_post": event.score}
        return altered(view, runs=changed(view.runs, event.run, **score))
    if event.session != view.session:
        return view
    match event:
        case ReportWritten():
            after = altered(
                view,
                headline=event.brief.headline,
                words=event.brief.words,
                recommendations=tuple(one.text for one in event.recommendations),
                waiting=len(event.decisions),
                review="pending",
                review_due_at=event.review_due_at,
            )
        case ReviewSubmitted():
            after = altered(view, review="submitted")
        case AssumptionSettled():
            after = view
        case ReviewTimedOut():
            after = altered(view, review="timeout" if view.review == "pending" else view.review)
        case _:
            assert_never(event)
    return after
