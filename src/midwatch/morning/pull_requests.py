"""What a person does with one pull request: merge it, take the merge back, close it."""

from midwatch.errors import Refused, Unknown
from midwatch.journal.events.jobs import PullRequestClosed, PullRequestMerged, PullRequestReopened
from midwatch.journal.events.projects import WorkChanged
from midwatch.morning.verdicts import verdicts_on
from midwatch.ports.books import Books
from midwatch.ports.forge import Forges
from midwatch.ports.journal import Records
from midwatch.terms.forges import PullRequestPlace, bearer_of
from midwatch.terms.projects import WorkStatus
from midwatch.terms.records import JobRow, ProjectRow, PullRequestRow, StackRow
from midwatch.terms.report import ReviewOutcome
from midwatch.terms.stack import StackState


async def close(books: Books, forges: Forges, job: JobRow, *, by: str, why: str) -> PullRequestRow:
    """Close a job's pull request without merging, here and on its forge; its branch stays until it is deleted."""
    row = await _open_pull_request(books.records, job)
    await forges.named(row.forge).close(await _place_of(books.records, row))
    await books.journal.record(
        PullRequestClosed(pull_request=row.id, by=by, why=why),
        WorkChanged(item=job.work_item, status=WorkStatus.BACKLOG, next_step=why, owner="human", why=f"closed by {by}"),
        actor=by,
        key=f"closed:{row.id}",
    )
    return await books.records.get(PullRequestRow, row.id)


async def _open_pull_request(records: Records, job: JobRow) -> PullRequestRow:
    opened = [row for row in await records.find(PullRequestRow, job=job.id) if row.state == "open"]
    if not opened:
        raise Unknown(f"Job {job.number} has no open pull request.", hint="See: midwatch job list")
    return opened[-1]


async def merge(books: Books, forges: Forges, job: JobRow, *, by: str) -> PullRequestRow:
    """Merge a job's pull request: only a person may ask for it, and what the person's review rejected is refused."""
    row = await _open_pull_request(books.records, job)
    await _refuse_rejected(books.records, job, row)
    project = await books.records.get(ProjectRow, row.project)
    forge = forges.named(row.forge)
    merged = await forge.merge(row.project, project.path, bearer_of(row.branch), row.head, row.into, row.title)
    await books.journal.record(
        PullRequestMerged(pull_request=row.id, sha=merged.sha, by=by, undo=merged.undo),
        WorkChanged(item=job.work_item, status=WorkStatus.DONE, next_step="", why=f"merged by {by}"),
        actor=by,
    )
    return await books.records.get(PullRequestRow, row.id)


async def unmerge(books: Books, forges: Forges, job: JobRow, *, by: str) -> PullRequestRow:
    """Take a merge back, if its branch has not moved since; the pull request is open again."""
    merged = [row for row in await books.records.find(PullRequestRow, job=job.id) if row.state == "merged"]
    if not merged:
        raise Unknown(f"Job {job.number} has no merged pull request.", hint="See: midwatch pr")
    row = merged[-1]
    stacks = await books.records.find(StackRow, project=row.project, state=StackState.MERGED)
    if whole := [one for one in stacks if row.id in {step.pull_request for step in one.order}]:
        raise Refused(
            f"Pull request {row.number} was merged with stack {whole[-1].number}.",
            hint="Take the whole stack back: midwatch stack undo",
        )
    sha = await forges.named(row.forge).unmerge(await _place_of(books.records, row), row.merged_sha)
    next_step = f"Look at pull request {row.number}: midwatch job diff {job.number}"
    why = f"its merge was taken back by {by}"
    await books.journal.record(
        PullRequestReopened(pull_request=row.id, by=by, sha=sha),
        WorkChanged(item=job.work_item, status=WorkStatus.IN_PROGRESS, next_step=next_step, owner="human", why=why),
        actor=by,
    )
    return await books.records.get(PullRequestRow, row.id)


async def _refuse_rejected(records: Records, job: JobRow, pull: PullRequestRow) -> None:
    said = await verdicts_on(records, [pull])
    if said[pull.id] is ReviewOutcome.REJECTED:
        raise Refused(
            f"Pull request {pull.number} was rejected in the review, so it is not merged.",
            hint=f"Accept it in a new review first: midwatch review --job {job.number}",
        )


async def _place_of(records: Records, row: PullRequestRow) -> PullRequestPlace:
    return row.place((await records.get(ProjectRow, row.project)).path)
