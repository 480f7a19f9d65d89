"""Updates the texts of pull requests when a linked job in another repository delivers or ends without work (X16)."""

import logging

from midwatch.errors import MidwatchError, Stale
from midwatch.journal.entry import digest
from midwatch.journal.events.jobs import PullRequestReworded
from midwatch.night.context import Night
from midwatch.night.delivery.deliver import through_the_door
from midwatch.night.delivery.forge_watch import place_of
from midwatch.night.delivery.siblings import MARK, TAIL, siblings, worded
from midwatch.rules.gate.contract import WRITE
from midwatch.terms.forges import LOCAL
from midwatch.terms.records import InvocationRow, JobRow, ProjectRow, PullRequestRow

log = logging.getLogger("midwatch.retelling")


async def retell(night: Night, job_id: str) -> None:
    """Update the open pull requests of a finished job's siblings, and its own."""
    job = await night.records.get(JobRow, job_id)
    for sibling in await siblings(night.records, job):
        if sibling.pull_request is not None:
            await _try(night, sibling.pull_request)
    for opened in await night.records.find(PullRequestRow, job=job.id):
        await _try(night, opened)


async def catch_up(night: Night) -> None:
    """Update the pull requests that could not be updated earlier, because their forge did not answer."""
    for opened in await night.records.find(PullRequestRow, state="open"):
        await _try(night, opened)


async def _try(night: Night, opened: PullRequestRow) -> None:
    """Update one pull request; an error is logged, so the others are updated too, and the patrol tries again."""
    try:
        await _reword(night, opened)
    except MidwatchError as error:
        log.warning(
            "pull request %s could not be updated with its linked pull requests: %s", opened.number, error.message
        )
    except Exception:  # an unexpected answer of one forge must not end the patrol
        log.exception(
            "pull request %s could not be updated with its linked pull requests; it is retried", opened.number
        )


async def _reword(night: Night, opened: PullRequestRow) -> None:
    job = await night.records.get(JobRow, opened.job)
    body = worded(opened.body, await siblings(night.records, job))
    if opened.state != "open" or body == opened.body:
        return
    if opened.forge != LOCAL:
        await _comment(night, job, opened, f"{MARK}{body.partition(MARK)[2].partition(TAIL)[0]}".strip())
    try:
        await night.journal.record(PullRequestReworded(pull_request=opened.id, body=body))
    except Stale:
        return  # merged or closed in the same moment


async def _comment(night: Night, job: JobRow, opened: PullRequestRow, text: str) -> None:
    """Post the text on the pull request's forge, through the door, once."""
    project = await night.records.get(ProjectRow, opened.project)
    place = await place_of(night.records, opened)

    async def act() -> dict[str, str]:
        await night.forges.of(project).comment(place, text)
        return {"branch": opened.branch}

    key = f"reworded:{opened.id}:{digest(text)[:12]}"
    failed = await night.records.find(InvocationRow, job=job.id, tool=WRITE, status=("error", "denied"))
    key = f"{key}:{sum(row.id.startswith(key) for row in failed)}"  # the door remembers how a key ended
    await through_the_door(night, job, key, {"into": opened.branch, "forge": opened.forge}, act)
