"""Jobs and pull requests. Only the newest epoch may change a job: an older one is Stale."""

import sqlalchemy as sa

from midwatch.errors import Stale
from midwatch.journal.entry import Entry
from midwatch.journal.events import jobs as ev
from midwatch.journal.events.jobs import PullRequestReworded
from midwatch.store.projectors.rows import adjust, change, clear_timer, insert, next_number, on, row
from midwatch.store.projectors.sessions import call_round
from midwatch.store.projectors.waiting import failures_with, rested
from midwatch.store.schema.tables import jobs, plans, pull_requests, sessions
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.projects import SessionState
from midwatch.terms.trust import Isolation

NOT_OVER = tuple(state.value for state in JobState if not state.over)
GOING = (JobState.RUNNING.value, JobState.QUEUED.value)
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
    fields = event.model_dump(mode="json", exclude={"kind", "job"})
    insert(
        c,
        jobs,
        **fields,
        **_carried_on(c, event),
        id=event.job,
        number=next_number(c, jobs),
        state=JobState.QUEUED,
        attempt=1,
        epoch=0,
        worker="",
        isolation=Isolation.NONE,
        diff_blob="",
        repairs=0,
        branch="",
        stumbles=0,
        usd_micros=0,
        tokens=0,
        requests=0,
        ran_seconds=0,
        granted_usd_micros=0,
        granted_tokens=0,
        granted_requests=0,
        waits=0,
        waits_for="",
        failures=(),
        boxes=0,
        box_seconds=0,
        output_blob="",
        last_head="",
        why="",
        cause="",
        created_at=entry.at,
    )


def _carried_on(c: sa.Connection, event: ev.JobCreated) -> dict[str, object]:
    """What a resumed job takes over from the earlier one; a new job takes nothing."""
    if event.stage is Stage.MIRROR:
        nothing = {
            "plan_hash": "",
            "approved_by": "",
            "plan_wish": "",
            "setup_key": "",
            "model": "",
            "conversation": "",
        }
        return {"plan_version": 0, "work_epoch": 0, **nothing}
    former = row(c, jobs, event.retry_of)
    planned = ("repository", "plan", "plan_version", "plan_hash", "plan_wish", "approved_by")
    names = (*planned, "done", "work_epoch", "setup_key", "model", "conversation")
    return {name: former[name] for name in names}


def by_epoch(c: sa.Connection, job: str, of: int, /, *at: Stage, **values: object) -> None:
    """Change a job that is not over, on behalf of its newest epoch."""
    where = {"id": job, "epoch": of, "state": NOT_OVER}
    change(c, jobs, where | ({"stage": tuple(one.value for one in at)} if at else {}), **values)


ONCE_ONE = {(Stage.BUNDLE.value, Stage.QUARANTINE)}
"""Stages that were one in older journals: the claimed stage follows directly."""


@on(ev.JobClaimed)
def job_claimed(c: sa.Connection, entry: Entry, event: ev.JobClaimed) -> None:
    """The next epoch, at the stage that is due, unless the job is over."""
    now = row(c, jobs, event.job)
    if now["stage"] != event.stage.value and (now["stage"], event.stage) not in ONCE_ONE:
        raise Stale(f"Job {now['number']} is past {event.stage.value}: it is at {now['stage']}.", hint=LOOK)
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


@on(ev.JobMirrored)
def job_mirrored(c: sa.Connection, _: Entry, event: ev.JobMirrored) -> None:
    """Its base commit is known."""
    by_epoch(c, event.job, event.epoch, Stage.MIRROR, repository=event.repository, stage=Stage.SETUP, attempt=1)


@on(ev.JobPrepared)
def job_prepared(c: sa.Connection, _: Entry, event: ev.JobPrepared) -> None:
    """Ready to plan; in older journals the mirror and the setup were one stage."""
    at = (Stage.MIRROR, Stage.SETUP)
    by_epoch(c, event.job, event.epoch, *at, repository=event.repository, stage=Stage.PLAN, attempt=1)


@on(ev.JobExecuted)
def job_executed(c: sa.Connection, _: Entry, event: ev.JobExecuted) -> None:
    """Not verified yet."""
    by_epoch(
        c,
        event.job,
        event.epoch,
        Stage.EXECUTE,
        done=event.done,
        work_epoch=event.work_epoch or event.epoch,
        stage=Stage.BUNDLE,
        attempt=1,
    )


@on(ev.JobBundled)
def job_bundled(c: sa.Connection, _: Entry, event: ev.JobBundled) -> None:
    """Not inspected yet."""
    by_epoch(c, event.job, event.epoch, Stage.BUNDLE, bundle=event.bundle, stage=Stage.QUARANTINE, attempt=1)


@on(ev.JobQuarantined)
def job_quarantined(c: sa.Connection, _: Entry, event: ev.JobQuarantined) -> None:
    """What really arrived."""
    by_epoch(
        c,
        event.job,
        event.epoch,
        Stage.QUARANTINE,
        change=event.change,
        diff_blob=event.diff_blob,
        stage=Stage.VERIFY,
        attempt=1,
    )


@on(ev.JobVerified)
def job_verified(c: sa.Connection, _: Entry, event: ev.JobVerified) -> None:
    """Repair or deliver."""
    stage = Stage.REPAIR if event.repair else Stage.DELIVER
    by_epoch(c, event.job, event.epoch, Stage.VERIFY, proof=event.proof, stage=stage, attempt=1)


@on(ev.JobRepaired)
def job_repaired(c: sa.Connection, _: Entry, event: ev.JobRepaired) -> None:
    """Through quarantine again."""
    by_epoch(
        c,
        event.job,
        event.epoch,
        Stage.REPAIR,
        done=event.done,
        work_epoch=event.work_epoch or event.epoch,
        repairs=event.round,
        stage=Stage.BUNDLE,
        attempt=1,
    )


@on(ev.JobDelivered)
def job_delivered(c: sa.Connection, _: Entry, event: ev.JobDelivered) -> None:
    """Only the pull request is missing."""
    by_epoch(c, event.job, event.epoch, Stage.DELIVER, branch=event.branch, stage=Stage.PULL_REQUEST, attempt=1)


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
    fields = event.model_dump(mode="json", exclude={"kind", "pull_request", "epoch"})
    insert(
        c,
        pull_requests,
        **fields,
        id=event.pull_request,
        number=next_number(c, pull_requests),
        state="open",
        merged_sha="",
        undo=(),
        created_at=entry.at,
    )
    if now["stage"] == Stage.PULL_REQUEST.value:
        by_epoch(c, event.job, event.epoch, stage=Stage.NOTICE, attempt=1)


@on(PullRequestReworded)
def pull_request_reworded(c: sa.Connection, _: Entry, event: PullRequestReworded) -> None:
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


@on(ev.PullRequestClosed)
def pull_request_closed(c: sa.Connection, entry: Entry, event: ev.PullRequestClosed) -> None:
    """A person's act."""
    change(c, pull_requests, {"id": event.pull_request, "state": "open"}, state="closed", closed_at=entry.at)
