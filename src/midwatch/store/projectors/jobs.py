"""Jobs and pull requests. Only the newest epoch may change a job: an older one is Stale."""

import sqlalchemy as sa

from midwatch.errors import NoPlace, Stale
from midwatch.journal.entry import Entry
from midwatch.journal.events import jobs as ev
from midwatch.store.projectors.rows import adjust, begin, change, clear_timer, failures_with, on, rested, row
from midwatch.store.projectors.sessions import call_round
from midwatch.store.schema.tables import jobs, missions, plans, pull_requests, runs, sessions
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.projects import SessionState
from midwatch.terms.trust import Isolation

NOT_OVER = tuple(state.value for state in JobState if not state.over)
GOING = (JobState.RUNNING.value, JobState.QUEUED.value)
HAVE_PLACES = (JobState.RUNNING.value, JobState.STOPPING.value)
"""A job that waits for a person, a time or a place has none."""
StageEvent = (
    ev.JobMirrored
    | ev.JobPrepared
    | ev.JobExecuted
    | ev.JobBundled
    | ev.JobQuarantined
    | ev.JobVerified
    | ev.JobRepaired
    | ev.JobDelivered
    | ev.PullRequestOpened
)
LOOK = "Look at the current state and try again."


def timer_of(job: str) -> str:
    return f"job:{job}"


@on(ev.JobCreated)
def job_created(c: sa.Connection, entry: Entry, event: ev.JobCreated) -> None:
    """One job at a time in a project, and only while its night runs; a person may resume one later."""
    state = c.execute(sa.select(sessions.c.state).where(sessions.c.id == event.session)).scalar()
    if state not in {None, SessionState.AUTONOMOUS.value} and event.stage is Stage.MIRROR:
        raise Stale("The night is over.", hint="Order it for the next one.")
    busy = sa.select(jobs.c.number).where(jobs.c.project == event.project, jobs.c.state.in_(NOT_OVER))
    if (number := c.execute(busy).scalar()) is not None:
        raise Stale(f"Job {number} is running in this project.", hint="Wait for it, or stop it: midwatch job stop")
    isolation = Isolation.NONE
    begin(
        c, entry, jobs, event.job, event, **_carried_on(c, event), state=JobState.QUEUED, attempt=1, isolation=isolation
    )


def _carried_on(c: sa.Connection, event: ev.JobCreated) -> dict[str, object]:
    """What a resumed job takes over from the earlier one; a new try is only as tainted as the one before."""
    if event.stage is Stage.MIRROR:
        former_taint = sa.select(jobs.c.tainted).where(jobs.c.id == event.retry_of)
        return {"tainted": bool(c.execute(former_taint).scalar())}
    former = row(c, jobs, event.retry_of)
    planned = ("repository", "plan", "plan_version", "plan_hash", "plan_wish", "approved_by")
    names = (*planned, "done", "work_epoch", "setup_key", "model", "conversation", "tainted")
    return {name: former[name] for name in names}


def by_epoch(c: sa.Connection, job: str, of: int, /, *at: Stage, **values: object) -> None:
    """Change a job that is not over, on behalf of its newest epoch."""
    where = {"id": job, "epoch": of, "state": NOT_OVER}
    change(c, jobs, where | ({"stage": tuple(one.value for one in at)} if at else {}), **values)


def passed(c: sa.Connection, event: StageEvent, *at: Stage, to: Stage, **values: object) -> None:
    """A stage is done and the next one is due."""
    by_epoch(c, event.job, event.epoch, *at, **values, stage=to, attempt=1)


ONCE_ONE = {(Stage.BUNDLE.value, Stage.QUARANTINE)}
"""Stages that were one in older journals: the claimed stage follows directly."""


@on(ev.JobClaimed)
def job_claimed(c: sa.Connection, entry: Entry, event: ev.JobClaimed) -> None:
    """The next epoch, at the stage that is due, unless the job is over."""
    now = row(c, jobs, event.job)
    if now["stage"] != event.stage.value and (now["stage"], event.stage) not in ONCE_ONE:
        raise Stale(f"Job {now['number']} is past {event.stage.value}: it is at {now['stage']}.", hint=LOOK)
    if event.places and now["state"] == JobState.QUEUED.value:
        _takes_a_place(c, event)
    state = JobState.STOPPING.value if now["state"] == JobState.STOPPING.value else JobState.RUNNING.value
    by_epoch(
        c,
        event.job,
        event.epoch - 1,
        epoch=event.epoch,
        worker=event.worker,
        isolation=event.isolation,
        stage=event.stage,
        attempt=event.attempt,
        state=state,
        started_at=now["started_at"] or entry.at,
        waits_for="",
        wakes_at=None,
    )


def _takes_a_place(c: sa.Connection, event: ev.JobClaimed) -> None:
    """A job that was not at work begins or continues only where a place is free, even if others claim now."""
    at_work = sa.select(sa.func.count()).where(jobs.c.state.in_(HAVE_PLACES), jobs.c.id != event.job)
    if c.execute(at_work).scalar_one() >= event.places:
        raise NoPlace


@on(ev.JobMirrored)
def job_mirrored(c: sa.Connection, _: Entry, event: ev.JobMirrored) -> None:
    """Its base commit is known."""
    passed(c, event, Stage.MIRROR, to=Stage.SETUP, repository=event.repository)


@on(ev.JobPrepared)
def job_prepared(c: sa.Connection, _: Entry, event: ev.JobPrepared) -> None:
    """Ready to plan; in older journals the mirror and the setup were one stage."""
    passed(c, event, Stage.MIRROR, Stage.SETUP, to=Stage.PLAN, repository=event.repository)


@on(ev.JobExecuted)
def job_executed(c: sa.Connection, _: Entry, event: ev.JobExecuted) -> None:
    """Not verified yet."""
    passed(c, event, Stage.EXECUTE, to=Stage.BUNDLE, done=event.done, work_epoch=event.work_epoch or event.epoch)


@on(ev.JobBundled)
def job_bundled(c: sa.Connection, _: Entry, event: ev.JobBundled) -> None:
    """Not inspected yet."""
    passed(c, event, Stage.BUNDLE, to=Stage.QUARANTINE, bundle=event.bundle)


@on(ev.JobQuarantined)
def job_quarantined(c: sa.Connection, _: Entry, event: ev.JobQuarantined) -> None:
    """What really arrived."""
    passed(c, event, Stage.QUARANTINE, to=Stage.VERIFY, change=event.change, diff_blob=event.diff_blob)


@on(ev.JobVerified)
def job_verified(c: sa.Connection, _: Entry, event: ev.JobVerified) -> None:
    """Repair or deliver."""
    passed(c, event, Stage.VERIFY, to=Stage.REPAIR if event.repair else Stage.DELIVER, proof=event.proof)


@on(ev.JobRepaired)
def job_repaired(c: sa.Connection, _: Entry, event: ev.JobRepaired) -> None:
    """Through quarantine again."""
    work = {"done": event.done, "work_epoch": event.work_epoch or event.epoch, "repairs": event.round}
    passed(c, event, Stage.REPAIR, to=Stage.BUNDLE, **work)


@on(ev.JobDelivered)
def job_delivered(c: sa.Connection, _: Entry, event: ev.JobDelivered) -> None:
    """Only the pull request is missing."""
    passed(c, event, Stage.DELIVER, to=Stage.PULL_REQUEST, branch=event.branch)


@on(ev.JobEnded)
def job_ended(c: sa.Connection, entry: Entry, event: ev.JobEnded) -> None:
    now = row(c, jobs, event.job)
    by_epoch(c, event.job, event.epoch, state=event.state, why=event.why, cause=event.cause, ended_at=entry.at)
    change(c, jobs, {"id": event.job}, waits_for="", wakes_at=None, agent_began_at=None, **rested(c, now, entry.at))
    change(c, jobs, {"id": event.job}, output_blob=event.output_blob, last_head=event.head)
    if event.state == "failed":
        failure = {"stage": now["stage"], "attempt": now["attempt"], "cause": event.cause, "said": event.why}
        failed = failures_with(now, entry.at, **failure, output_blob=event.output_blob)
        change(c, jobs, {"id": event.job}, failures=failed)
    fate = "rejected" if event.state == "declined" else "none"
    adjust(c, plans, {"job": event.job, "fate": "open"}, fate=fate, said=event.why, settled_at=entry.at)
    clear_timer(c, timer_of(event.job))
    session = now["session"]
    change(c, sessions, {"id": session}, last_moved_at=entry.at)
    call_round(c, session, entry.at)


@on(ev.PullRequestOpened)
def pull_request_opened(c: sa.Connection, entry: Entry, event: ev.PullRequestOpened) -> None:
    """One for each job, and only from the newest epoch."""
    now = row(c, jobs, event.job)
    if now["epoch"] != event.epoch:
        raise Stale(f"Epoch {event.epoch} of job {now['number']} is not the newest.", hint=LOOK)
    if c.execute(sa.select(pull_requests.c.id).where(pull_requests.c.job == event.job)).first():
        raise Stale(f"Job {now['number']} has delivered already.", hint=LOOK)
    begin(c, entry, pull_requests, event.pull_request, event, state="open")
    if now["stage"] == Stage.PULL_REQUEST.value:
        passed(c, event, to=Stage.NOTICE)


@on(ev.PullRequestReworded)
def pull_request_reworded(c: sa.Connection, _: Entry, event: ev.PullRequestReworded) -> None:
    change(c, pull_requests, {"id": event.pull_request, "state": "open"}, body=event.body)


@on(ev.PullRequestMerged)
def pull_request_merged(c: sa.Connection, entry: Entry, event: ev.PullRequestMerged) -> None:
    """A person's act."""
    change(
        c,
        pull_requests,
        {"id": event.pull_request, "state": "open"},
        state="merged",
        merged_sha=event.sha,
        undo=event.undo,
        closed_at=entry.at,
    )


@on(ev.PullRequestReopened)
def pull_request_reopened(c: sa.Connection, _: Entry, event: ev.PullRequestReopened) -> None:
    """A person's act."""
    where = {"id": event.pull_request, "state": "merged"}
    change(c, pull_requests, where, state="open", merged_sha="", undo=(), closed_at=None)


@on(ev.PullRequestClosed)
def pull_request_closed(c: sa.Connection, entry: Entry, event: ev.PullRequestClosed) -> None:
    """A person's act."""
    change(c, pull_requests, {"id": event.pull_request, "state": "open"}, state="closed", closed_at=entry.at)


@on(ev.PullRequestChanged)
def pull_request_changed(c: sa.Connection, entry: Entry, event: ev.PullRequestChanged) -> None:
    fields = event.model_dump(mode="json", exclude={"kind", "pull_request", "forge"})
    change(c, pull_requests, {"id": event.pull_request, "state": "open"}, **fields, seen_at=entry.at)


@on(ev.MissionCreated)
def mission_created(c: sa.Connection, entry: Entry, event: ev.MissionCreated) -> None:
    """Named after the order it serves."""
    begin(c, entry, missions, event.mission, event)


@on(ev.RunStarted)
def run_started(c: sa.Connection, entry: Entry, event: ev.RunStarted) -> None:
    """Its contract is frozen with it."""
    begin(c, entry, runs, event.run, event, status="running", scores={}, started_at=entry.at)


@on(ev.RunFinished)
def run_finished(c: sa.Connection, entry: Entry, event: ev.RunFinished) -> None:
    change(
        c,
        runs,
        {"id": event.run, "status": "running"},
        status=event.status,
        summary=event.summary,
        ended_at=entry.at,
    )
