"""Ends the autonomous part, for any reason: running jobs are stopped, and acts that wait for a yes are not done."""

from collections.abc import Iterable
from dataclasses import dataclass

from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobStopRequested
from midwatch.journal.events.session import AskExpired, CheckInMade, SessionDebriefing
from midwatch.night.notify.notice import notice
from midwatch.ports.clock import Ids
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.terms.asks import AskKind, AskState, Silence
from midwatch.terms.records import AskRow, JobRow, SessionRow
from midwatch.views.text.plain import clean


@dataclass(frozen=True, slots=True)
class NightEnd:
    """Why a night ends, and who ended it."""

    reason: str
    by: str = "midwatch"
    news: str = ""
    """What no check-in has reported yet."""


def debrief_events(
    ids: Ids, session: SessionRow, end: NightEnd, *, jobs: Iterable[JobRow], asks: Iterable[AskRow]
) -> list[Event]:
    """Return all events that end a night or a command, for one transaction."""
    reason, noun = end.reason, session.noun
    called = f"The command “{clean(session.orders.goals[0], 60)}”" if session.ad_hoc else session.called
    over = f"{called} is over: {reason}.{end.news}"
    events: list[Event] = [
        SessionDebriefing(session=session.id, reason=reason),
        CheckInMade(session=session.id, type="completion", trigger="over", text=f"The {noun} is over: {reason}."),
        notice(ids, session.id, tier_of(NoticeKind.CHECK_IN_COMPLETION), over, subject=session.id),
    ]
    for job in jobs:
        if job.session == session.id:
            events += stop_events(job, by=end.by, why=f"the {noun} ended: {reason}")
    events += [
        AskExpired(ask=ask.id, meant=Silence.NOT_DONE)
        for ask in asks
        if ask.session == session.id and ask.kind is AskKind.CONFIRM_ACT and ask.state is AskState.OPEN
    ]
    return events


def stop_events(job: JobRow, *, by: str, why: str) -> list[Event]:
    """Return the events that stop a job; the work that follows them wakes the worker or ends the wait."""
    return [] if job.state.over else [JobStopRequested(job=job.id, by=by, why=why)]
