"""Updates the texts of pull requests when a linked job in another repository delivers or ends without work (X16)."""

import logging

from midwatch.errors import MidwatchError, Stale
from midwatch.journal.entry import digest
from midwatch.journal.events.jobs import PullRequestReworded
from midwatch.night.context import Outside
from midwatch.night.delivery.deliver import through_the_door
from midwatch.night.delivery.forge_watch import place_of
from midwatch.night.delivery.siblings import MARK, TAIL, siblings, worded
from midwatch.ports.books import Books
from midwatch.rules.gate.contract import WRITE
from midwatch.terms.forges import LOCAL
from midwatch.terms.records import InvocationRow, JobRow, ProjectRow, PullRequestRow

log = logging.getLogger("midwatch.retelling")


async def retell(books: Books, outside: Outside, job_id: str) -> None:
    """Update the open pull requests of a finished job's siblings, and its own."""
    job = await books.records.get(JobRow, job_id)
    for sibling in await siblings(books.records, job):
        if sibling.pull_request is not None:
            await _try(books, outside, sibling.pull_request)
    for opened in await books.records.find(PullRequestRow, job=job.id):
        await _try(books, outside, opened)


async def catch_up(books: Books, outside: Outside) -> None:
    """Update the pull requests that could not be updated earlier, because their forge did not answer."""
    for opened in await books.records.find(PullRequestRow, state="open"):
        await _try(books, outside, opened)


async def _try(books: Books, outside: Outside, opened: PullRequestRow) -> None:
    """Update one pull request; an error is logged, so the others are updated too, and the patrol tries again."""
    try:
        await _reword(books, outside, opened)
    except MidwatchError as error:
        log.warning(
            "pull request %s could not be updated with its linked pull requests: %s", opened.number, error.message
        )
    except Exception:  # an unexpected answer of one forge must not end the patrol
        log.exception(
            "pull request %s could not be updated with its linked pull requests; it is retried", opened.number
        )


async def _reword(books: Books, outside: Outside, opened: PullRequestRow) -> None:
    job = await books.records.get(JobRow, opened.job)
    body = worded(opened.body, await siblings(books.records, job))
    if opened.state != "open" or body == opened.body:
        return
    if opened.forge != LOCAL:
        await _comment(books, outside, job, opened, f"{MARK}{body.partition(MARK)[2].partition(TAIL)[0]}".strip())
    try:
        await books.journal.record(PullRequestReworded(pull_request=opened.id, body=body))
    except Stale:
        return  # merged or closed in the same moment


async def _comment(books: Books, outside: Outside, job: JobRow, opened: PullRequestRow, text: str) -> None:
    """Post the text on the pull request's forge, through the door, once."""
    project = await books.records.get(ProjectRow, opened.project)
    place = await place_of(books.records, opened)

    async def act() -> dict[str, str]:
        await outside.forges.of(project).comment(place, text)
        return {"branch": opened.branch}

    key = f"reworded:{opened.id}:{digest(text)[:12]}"
    failed = await books.records.find(InvocationRow, job=job.id, tool=WRITE, status=("error", "denied"))
    key = f"{key}:{sum(row.id.startswith(key) for row in failed)}"  # the door remembers how a key ended
    await through_the_door(books, outside.door, job, key, {"into": opened.branch, "forge": opened.forge}, act)
