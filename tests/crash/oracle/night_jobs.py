"""What missions, runs, jobs and pull requests do to the view."""

from typing import assert_never

from midwatch.journal.events.jobs import (
    BoxEvent,
    JobApproved,
    JobBoxed,
    JobBundled,
    JobClaimed,
    JobCreated,
    JobDelivered,
    JobEnded,
    JobEvent,
    JobExecuted,
    JobGranted,
    JobMirrored,
    JobPlanned,
    JobPrepared,
    JobQuarantined,
    JobRepaired,
    JobStopRequested,
    JobStumbled,
    JobVerified,
    JobWoken,
    MissionCreated,
    PathAllowed,
    PlanReturned,
    PullRequestChanged,
    PullRequestClosed,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestReopened,
    PullRequestReworded,
    RunFinished,
    RunStarted,
)
from midwatch.journal.follows import NEXT_STAGE
from midwatch.terms.jobs import JobState, Stage
from midwatch.views.entries.groups import Closing, Holding, Making, Proving, Setting
from tests.crash.oracle.seen import JobSeen, NightView, PullRequestSeen, RunSeen, altered, changed


def happened(view: NightView, event: JobEvent) -> NightView:
    """Let an event of the work happen; jobs of other sessions than the newest do not show."""
    if isinstance(event, Setting):
        return _setting(view, event)
    if isinstance(event, Holding):
        return _held_up(view, event)
    if isinstance(event, Making):
        return _making(view, event)
    return _proving(view, event) if isinstance(event, Proving) else _closing(view, event)


def boxed(view: NightView, event: BoxEvent) -> NightView:
    """A job whose time is over is stopping; the rest of its box does not show."""
    return _job(view, event.job, state=JobState.STOPPING, why=event.why) if isinstance(event, JobBoxed) else view


def _job(view: NightView, name: str, **values: object) -> NightView:
    return altered(view, jobs=changed(view.jobs, name, **values))


def _of(view: NightView, name: str) -> JobSeen | None:
    return next((job for job in view.jobs if job.id == name), None)


def _setting(view: NightView, event: Setting) -> NightView:
    match event:
        case MissionCreated() | JobClaimed():
            after = _taken_up(view, event)
        case RunStarted():
            new = RunSeen(id=event.run, number=view.names.count("run"))
            after = altered(view, runs=(*view.runs, new)) if event.session == view.session else view
        case RunFinished(run=run, status=status):
            after = altered(view, runs=changed(view.runs, run, status=status))
        case JobCreated():
            after = _created(view, event) if event.session == view.session else view
        case JobMirrored(job=job) | JobPrepared(job=job):
            after = _job(view, job, stage=NEXT_STAGE[type(event)])
        case _:
            assert_never(event)
    return after


def _taken_up(view: NightView, event: MissionCreated | JobClaimed) -> NightView:
    job = None if isinstance(event, MissionCreated) else _of(view, event.job)
    if job is None or isinstance(event, MissionCreated):
        return view
    state = JobState.STOPPING if job.state is JobState.STOPPING else JobState.RUNNING
    return _job(view, job.id, attempts=job.attempts + 1, state=state)


def _held_up(view: NightView, event: Holding) -> NightView:
    job = _of(view, event.job)
    if job is None or isinstance(event, JobGranted | PathAllowed):
        return view
    if isinstance(event, JobStumbled):
        return _job(view, job.id, stumbles=job.stumbles + 1)
    state = JobState.QUEUED if isinstance(event, JobWoken) else _waiting(view, job.id)
    return _job(view, job.id, state=state)


def _created(view: NightView, event: JobCreated) -> NightView:
    new = JobSeen(
        id=event.job,
        number=view.names.count("job"),
        title=event.title,
        project=view.names.projects.get(event.project, event.project),
        agent=event.agent,
        retry_of=event.retry_of,
    )
    return altered(view, jobs=(*view.jobs, new))


def _making(view: NightView, event: Making) -> NightView:
    job = event.job
    match event:
        case JobPlanned(plan=plan):
            after = _job(view, job, plan=plan.summary, stage=Stage.APPROVE, state=_waiting(view, job))
        case PlanReturned():
            after = _job(view, job, stage=Stage.PLAN, state=JobState.QUEUED)
        case JobApproved(by=by):
            after = _job(view, job, approved_by=by, stage=Stage.EXECUTE, state=JobState.QUEUED)
        case JobExecuted() | JobRepaired():
            after = _job(view, job, stage=NEXT_STAGE[type(event)])
        case _:
            assert_never(event)
    return after


def _proving(view: NightView, event: Proving) -> NightView:
    job = event.job
    match event:
        case JobBundled() | JobDelivered():
            after = _job(view, job, stage=NEXT_STAGE[type(event)])
        case JobQuarantined(change=change):
            after = _job(
                view,
                job,
                stage=Stage.VERIFY,
                commits=len(change.commits),
                files=len(change.files),
                insertions=change.insertions,
                deletions=change.deletions,
            )
        case JobVerified(proof=proof, repair=repair):
            after = _job(view, job, proof=proof.verdict, stage=Stage.REPAIR if repair else Stage.DELIVER)
        case _:
            assert_never(event)
    return after


def _waiting(view: NightView, name: str) -> JobState:
    """One that was asked to stop meanwhile goes on stopping."""
    job = _of(view, name)
    going = job is None or job.state in {JobState.RUNNING, JobState.QUEUED}
    return JobState.WAITING if going or job is None else job.state


def _closing(view: NightView, event: Closing) -> NightView:
    match event:
        case JobStopRequested(job=job, why=why):
            after = _job(view, job, state=JobState.STOPPING, why=why)
        case JobEnded(job=job, why=why):
            after = _job(view, job, state=JobState(event.state), why=why)
        case PullRequestOpened():
            after = _opened(view, event) if _of(view, event.job) else view
        case PullRequestMerged(pull_request=name):
            after = altered(view, pull_requests=changed(view.pull_requests, name, state="merged"))
        case PullRequestReopened(pull_request=name):
            after = altered(view, pull_requests=changed(view.pull_requests, name, state="open"))
        case PullRequestChanged() | PullRequestReworded():
            after = view
        case PullRequestClosed(pull_request=name):
            after = altered(view, pull_requests=changed(view.pull_requests, name, state="closed"))
        case _:
            assert_never(event)
    return after


def _opened(view: NightView, event: PullRequestOpened) -> NightView:
    new = PullRequestSeen(
        id=event.pull_request,
        number=view.names.count("pull request"),
        title=event.title,
        branch=event.branch,
        job=event.job,
    )
    return altered(
        _job(view, event.job, branch=event.branch, stage=NEXT_STAGE[PullRequestOpened]),
        pull_requests=(*view.pull_requests, new),
    )
