"""How often something was tried, counted from the records: the same before and after a restart (RULES 3)."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from midwatch.rules.asks import agrees
from midwatch.rules.recovery import Cause, NextAct, cause_of, next_act
from midwatch.terms.asks import AskKind, AskState
from midwatch.terms.jobs import Failure, JobState
from midwatch.terms.records import AskRow, JobRow

GUIDANCE = frozenset({AskKind.GUIDANCE_ERROR, AskKind.GUIDANCE_UNCERTAIN})


def forgiven_at(asks: Iterable[AskRow], project: str) -> datetime | None:
    """When a person last said to go on in a project: what failed before is not counted any more."""
    said = [ask for ask in asks if ask.kind in GUIDANCE and ask.project == project and ask.state is AskState.ANSWERED]
    return max((ask.settled_at for ask in said if ask.settled_at and agrees(ask.answer)), default=None)


def failures_of(jobs: Iterable[JobRow], work_item: str, since: datetime | None) -> tuple[Failure, ...]:
    """Every try at one piece of work that failed and still counts, oldest first."""
    tried = [failure for job in jobs if job.work_item == work_item for failure in job.failures]
    return tuple(failure for failure in tried if since is None or failure.at > since)


def tries_of(failures: Iterable[Failure], cause: str) -> int:
    """Count the tries that failed for one cause."""
    return sum(failure.cause == cause for failure in failures)


def failed_in_a_row(jobs: Sequence[JobRow], since: datetime | None) -> tuple[JobRow, ...]:
    """List the jobs of a project that failed one after the other; one that was stopped says nothing either way."""
    row: list[JobRow] = []
    for job in reversed([one for one in jobs if one.state.over and one.state is not JobState.STOPPED]):
        if job.state is not JobState.FAILED or (since is not None and (job.ended_at or job.created_at) <= since):
            break
        row.append(job)
    return tuple(reversed(row))


def errors_in_a_row(jobs: Sequence[JobRow], since: datetime | None) -> int:
    """Count every failed try of those jobs: over two of them wake the person."""
    return sum(max(1, len(job.failures)) for job in failed_in_a_row(jobs, since))


def spent(jobs: Sequence[JobRow], work_item: str, since: datetime | None, cap: int) -> bool:
    """Whether only a person can get a piece of work going again: by its cause, or because it was tried often enough."""
    tried = failures_of(jobs, work_item, since)
    if not tried:
        return False
    last = cause_of(tried[-1].cause)
    return next_act(last, tries_of(tried, tried[-1].cause), cap) is NextAct.ASK


def project_spent(jobs: Sequence[JobRow], since: datetime | None, cap: int) -> bool:
    """Whether a project has failed so often in a row that nothing is begun there before a person has looked."""
    return len(failed_in_a_row(jobs, since)) >= cap


__all__ = [
    "GUIDANCE",
    "Cause",
    "errors_in_a_row",
    "failed_in_a_row",
    "failures_of",
    "forgiven_at",
    "project_spent",
    "spent",
    "tries_of",
]
