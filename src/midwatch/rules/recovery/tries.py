"""How often something was tried, counted from the records: the same before and after a restart (SPEC 9)."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from midwatch.rules.people.asks import agrees
from midwatch.rules.recovery.recovery import CAUSES, Cause, NextAct, cause_of, next_act
from midwatch.terms.asks import AskKind, AskState
from midwatch.terms.jobs import Failure, JobState, Stage
from midwatch.terms.records import AskRow, JobRow

GUIDANCE = frozenset({AskKind.GUIDANCE_ERROR, AskKind.GUIDANCE_UNCERTAIN})


def forgiven_at(asks: Iterable[AskRow], project: str, jobs: Iterable[JobRow], work_item: str = "") -> datetime | None:
    """When a person last said to continue in a project, or resumed a job there: earlier failures are not counted.

    For one piece of work only its own resumed jobs count; an answer is for the whole project.
    """
    said = [ask for ask in asks if ask.kind in GUIDANCE and ask.project == project and ask.state is AskState.ANSWERED]
    agreed = [ask.settled_at for ask in said if ask.settled_at and agrees(ask.answer)]
    by_person = [job for job in jobs if job.project == project and job.retry_of and not job.act]
    resumed = [job.created_at for job in by_person if work_item in {"", job.work_item}]
    return max((*agreed, *resumed), default=None)


def failures_of(jobs: Iterable[JobRow], work_item: str, since: datetime | None) -> tuple[Failure, ...]:
    """Every try at one piece of work that failed and still counts, oldest first: those in a row, up to now."""
    tried: list[Failure] = []
    for job in jobs:
        if job.work_item == work_item:
            tried = [] if job.state is JobState.DONE else [*tried, *_in_a_row(job)]
    return tuple(failure for failure in tried if since is None or failure.at > since)


def _in_a_row(job: JobRow) -> tuple[Failure, ...]:
    """The tries that failed at the stage a job is at, since that last went well: then its attempts begin at one."""
    row: list[Failure] = []
    before = job.attempt + 1 if job.state is JobState.FAILED else job.attempt
    for failure in reversed(job.failures):
        if failure.stage is not job.stage or failure.attempt >= before:
            break
        row.append(failure)
        before = failure.attempt
    return tuple(reversed(row))


def tries_of(failures: Iterable[Failure], cause: str) -> int:
    return sum(failure.cause == cause for failure in failures)


SAYS_NOTHING = frozenset({JobState.STOPPED, JobState.NOTHING_DELIVERED})


def failed_in_a_row(jobs: Sequence[JobRow], since: datetime | None) -> tuple[JobRow, ...]:
    """List the jobs of a project that failed one after the other; a stop, or no result, says nothing either way."""
    row: list[JobRow] = []
    for job in reversed([one for one in jobs if one.state.over and one.state not in SAYS_NOTHING]):
        if job.state is not JobState.FAILED or (since is not None and (job.ended_at or job.created_at) <= since):
            break
        row.append(job)
    return tuple(reversed(row))


def errors_in_a_row(jobs: Sequence[JobRow], since: datetime | None) -> int:
    """Count every failed try of those jobs: too many of them wake the person."""
    return sum(max(1, len(_in_a_row(job))) for job in failed_in_a_row(jobs, since))


def spent(jobs: Sequence[JobRow], work_item: str, since: datetime | None, cap: int) -> bool:
    """Whether only a person can get a piece of work going again: by its cause, or because it was tried often enough."""
    tried = failures_of(jobs, work_item, since)
    if not tried:
        return False
    last = cause_of(tried[-1].cause)
    return next_act(last, tries_of(tried, tried[-1].cause), cap) is NextAct.ASK


def project_spent(jobs: Sequence[JobRow], since: datetime | None, cap: int) -> bool:
    """Whether a project has failed so often in a row that nothing is started there before a person has looked."""
    return len(failed_in_a_row(jobs, since)) >= cap


def not_let_out(job: JobRow) -> bool:
    """Whether only the delivery of finished work failed: doing the work again would cost as much and gain nothing.

    Work that is wrong, or conflicts with another change, does not count: it must be done differently.
    """
    outward = job.state is JobState.FAILED and job.stage in {Stage.DELIVER, Stage.PULL_REQUEST}
    return outward and CAUSES[cause_of(job.cause)].act is not NextAct.RESTART


__all__ = [
    "GUIDANCE",
    "Cause",
    "errors_in_a_row",
    "failed_in_a_row",
    "failures_of",
    "forgiven_at",
    "not_let_out",
    "project_spent",
    "spent",
    "tries_of",
]
