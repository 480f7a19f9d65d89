"""The work that follows an event. It is derived from the event, so recording cannot forget it."""

from dataclasses import dataclass

from pydantic import JsonValue

from midwatch.journal.events import Event
from midwatch.journal.events import jobs as ev
from midwatch.journal.events.notices import PushBegun
from midwatch.journal.events.preflight import PreflightBegun, PreflightEnded, SigningAsked
from midwatch.journal.events.session import AskAnswered, AskExpired, NoticeRaised, RoundCalled, SessionDebriefing
from midwatch.journal.events.stack import StackBegun, StackMade
from midwatch.terms.asks import Tier
from midwatch.terms.jobs import Stage


@dataclass(frozen=True, slots=True)
class QueuedWork:
    """Work that follows an event; it is queued in the event's own transaction."""

    name: str
    args: dict[str, JsonValue]


def stage_work(job: str, stage: Stage, attempt: int = 1) -> QueuedWork:
    return QueuedWork("stage", {"job": job, "stage": stage.value, "attempt": attempt})


def follows(event: Event) -> tuple[QueuedWork, ...]:
    """Derive the work that follows an event, from the event alone."""
    match event:
        case RoundCalled(session=session, number=number):
            return (QueuedWork("round", {"session": session, "number": number}),)
        case AskAnswered(ask=ask) | AskExpired(ask=ask):
            return (QueuedWork("settle", {"ask": ask}),)
        case SessionDebriefing(session=session) | StackMade(session=session):
            return (QueuedWork("debrief", {"session": session}),)
        case StackBegun(stack=stack):
            return (QueuedWork("stack", {"stack": stack}),)
        case _:
            return _telling(event) or _after_job(event)


def _telling(event: Event) -> tuple[QueuedWork, ...]:
    match event:
        case NoticeRaised(notice=notice, tier=tier) if tier is not Tier.LOG:
            return (QueuedWork("tell", {"notice": notice}),)
        case PushBegun(push=push):
            return (QueuedWork("push", {"push": push}),)
        case _:
            return ()


NEXT_STAGE: dict[type[Event], Stage] = {
    ev.JobMirrored: Stage.SETUP,
    ev.JobPrepared: Stage.PLAN,
    ev.PlanReturned: Stage.PLAN,
    ev.JobApproved: Stage.EXECUTE,
    ev.JobExecuted: Stage.BUNDLE,
    ev.JobRepaired: Stage.BUNDLE,
    ev.JobBundled: Stage.QUARANTINE,
    ev.JobQuarantined: Stage.VERIFY,
    ev.JobDelivered: Stage.PULL_REQUEST,
    ev.PullRequestOpened: Stage.NOTICE,
}
"""The stage after one that succeeded; a plan waits for approval first."""


def _after_job(event: Event) -> tuple[QueuedWork, ...]:
    match event:
        case ev.JobCreated(job=job, stage=stage):
            return (stage_work(job, stage),)
        case ev.JobStopRequested(job=job) | ev.JobBoxed(job=job):
            return (QueuedWork("halt", {"job": job}),)
        case ev.JobEnded(job=job):
            return (QueuedWork("close", {"job": job}),)
        case PreflightBegun(preflight=preflight):
            return (QueuedWork("preflight", {"preflight": preflight}),)
        case PreflightEnded(preflight=preflight) | SigningAsked(preflight=preflight):
            return (QueuedWork("sign", {"preflight": preflight}),)
        case _:
            return _after_stage(event)


def _after_stage(event: Event) -> tuple[QueuedWork, ...]:
    match event:
        case (
            ev.JobMirrored(job=job)
            | ev.JobPrepared(job=job)
            | ev.PlanReturned(job=job)
            | ev.JobApproved(job=job)
            | ev.JobExecuted(job=job)
            | ev.JobRepaired(job=job)
            | ev.JobBundled(job=job)
            | ev.JobQuarantined(job=job)
            | ev.JobDelivered(job=job)
            | ev.PullRequestOpened(job=job)
        ):
            return (stage_work(job, NEXT_STAGE[type(event)]),)
        case ev.JobVerified(job=job, repair=repair):
            return (stage_work(job, Stage.REPAIR if repair else Stage.DELIVER),)
        case ev.JobStumbled(job=job, stage=stage, attempt=attempt):
            return (stage_work(job, stage, attempt + 1),)
        case ev.JobWoken(job=job, stage=stage, attempt=attempt):
            return (stage_work(job, stage, attempt),)
        case ev.RunFinished(session=session):
            return (QueuedWork("debrief", {"session": session}),)
        case _:
            return ()
