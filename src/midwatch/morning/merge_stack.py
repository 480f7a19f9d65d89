"""What a person does with a stack: merge it, post its order on remote pull requests, or take it back."""

from midwatch.errors import Refused, Stale, Unavailable, Unknown
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import PullRequestMerged
from midwatch.journal.events.projects import WorkChanged
from midwatch.journal.events.stack import StackCommented, StackMerged, StackUndone
from midwatch.morning.context import Morning
from midwatch.morning.verdicts import verdicts_on
from midwatch.ports.books import Books
from midwatch.ports.door import Door, Effect
from midwatch.ports.forge import BranchAdvance, BranchMover, Commenter
from midwatch.ports.journal import Journal, Records
from midwatch.terms.projects import WorkStatus
from midwatch.terms.records import InvocationRow, JobRow, ProjectRow, PullRequestRow, StackRow
from midwatch.terms.stack import StackState
from midwatch.terms.trust import GateOutcome, Reason, Verdict
from midwatch.views.pages.stack import comment, headline, no_longer_open, not_accepted, offered

LOCAL = "local"
CHECK_AGAIN = "Check again which branches go together: midwatch stack check --project {project}"


async def newest(records: Records, project: str = "") -> StackRow:
    """Find the newest stack of a project; without a name, of the only project that has one."""
    rows = await records.find(StackRow)
    if project:
        named = await records.get(ProjectRow, project)
        rows = tuple(row for row in rows if row.project == named.id)
    if not rows:
        raise Unknown("There is no stack yet.", hint="Make one: midwatch stack check --project NAME")
    if len({row.project for row in rows}) > 1:
        known = await records.find(ProjectRow, id=tuple({row.project for row in rows}))
        names = ", ".join(sorted(row.name for row in known))
        raise Refused(f"There are stacks in {names}.", hint="Say which: --project NAME")
    return rows[-1]


async def take(morning: Morning, name: str, *, by: str) -> StackRow:
    """Merge the verified order in one piece, or post it on each remote pull request."""
    books = morning.books
    row, project = await _found(books.records, name)
    again = CHECK_AGAIN.format(project=project.name)
    if row.state in {StackState.MERGED, StackState.COMMENTED}:
        raise Refused(f"Stack {row.number} is {row.state.value} already, by {row.settled_by}.")
    if not offered(row):
        raise Refused(f"Stack {row.number} cannot be merged: {headline(row)} {row.why}".strip(), hint=again)
    pulls = await _pulls(books.records, row)
    if settled := no_longer_open(row, {pull.id: pull for pull in pulls}):
        raise Stale(" ".join(settled), hint=again)
    if held := not_accepted(row, await verdicts_on(books.records, pulls)):
        raise Refused(f"Stack {row.number} cannot be merged: {' '.join(held)}", hint="Give your verdicts first.")
    if pulls[0].forge != LOCAL:
        return await _tell(morning, row, pulls, by=by)
    return await _merge(books, morning.forge, row, project, pulls, by=by)


async def _merge(
    books: Books, forge: BranchMover, row: StackRow, project: ProjectRow, pulls: tuple[PullRequestRow, ...], *, by: str
) -> StackRow:
    """Move the branch, then record it; if cut off between the two, the next try finds the branch moved."""
    moved = await forge.advance(_advance(row, project))
    events: list[Event] = [StackMerged(stack=row.id, by=by, sha=row.tip, undo=moved.undo)]
    for step, pull in zip(row.order, pulls, strict=True):
        undo = f"git -C {project.path} revert -m 1 {step.commit}"
        events.append(PullRequestMerged(pull_request=pull.id, sha=step.commit, by=by, undo=(undo,)))
    why = f"merged by {by} with stack {row.number}"
    events += await _work(books.records, row, WorkStatus.DONE, why)
    return await _recorded(books.journal, books.records, row, events, by=by)


async def _tell(morning: Morning, row: StackRow, pulls: tuple[PullRequestRow, ...], *, by: str) -> StackRow:
    forge = morning.comments
    if forge is None:
        raise Unavailable(f"Midwatch cannot comment on {pulls[0].forge}.", hint="Merge them there: midwatch stack")
    for pull in pulls:
        await _comment(morning.books.records, morning.door, forge, row, pull, by=by)
    result = StackCommented(stack=row.id, by=by, pull_requests=tuple(pull.id for pull in pulls))
    return await _recorded(morning.books.journal, morning.books.records, row, [result], by=by)


async def _comment(
    records: Records, door: Door, forge: Commenter, row: StackRow, pull: PullRequestRow, *, by: str
) -> None:
    async def judge() -> Verdict:
        text = f"{by} posts the order."
        return Verdict(outcome=GateOutcome.EXECUTE, reasons=(Reason(code="person.command", text=text),))

    async def act() -> dict[str, str]:
        await forge.comment(pull, comment(row))
        return {"pull_request": pull.id}

    key = f"stack:{row.id}:{pull.id}:comment"
    effect = Effect(
        key=f"{key}:{await _tries(records, pull, key)}",
        tool="forge_comment",
        session=row.session,
        run=pull.run,
        job=pull.job,
        request={"pull_request": pull.id, "stack": row.id, "by": by},
    )
    await door.pass_through(effect, judge, act)


async def _tries(records: Records, pull: PullRequestRow, key: str) -> int:
    """Count the tries that failed: the door remembers how a key ended, so the next try needs a new key."""
    rows = await records.find(InvocationRow, job=pull.job, tool="forge_comment", status="error")
    return sum(row.id.startswith(key) for row in rows)


async def undo(books: Books, forge: BranchMover, name: str, *, by: str) -> StackRow:
    """Take a merged stack back, if its branch has not moved since; its pull requests open again."""
    row, project = await _found(books.records, name)
    if row.state is not StackState.MERGED:
        raise Refused(f"Stack {row.number} is {row.state.value}; there is nothing to take back.")
    await forge.take_back(_advance(row, project))
    pulls = tuple(step.pull_request for step in row.order)
    undone = StackUndone(stack=row.id, by=by, sha=row.base, pull_requests=pulls)
    work = await _work(books.records, row, WorkStatus.IN_PROGRESS, f"taken back by {by} with stack {row.number}")
    return await _recorded(books.journal, books.records, row, [undone, *work], by=by)


async def _found(records: Records, name: str) -> tuple[StackRow, ProjectRow]:
    row = await records.get(StackRow, name)
    return row, await records.get(ProjectRow, row.project)


def _advance(row: StackRow, project: ProjectRow) -> BranchAdvance:
    return BranchAdvance(
        project=project.id, source=project.path, into=row.into, stack=row.id, old=row.base, new=row.tip
    )


async def _pulls(records: Records, row: StackRow) -> tuple[PullRequestRow, ...]:
    found = {pull.id: pull for pull in await records.find(PullRequestRow, project=row.project)}
    return tuple(found[step.pull_request] for step in row.order)


async def _work(records: Records, row: StackRow, status: WorkStatus, why: str) -> list[WorkChanged]:
    jobs = {job.id: job for job in await records.find(JobRow, id=tuple(step.job for step in row.order))}
    open_again = status is not WorkStatus.DONE
    return [
        WorkChanged(
            item=jobs[step.job].work_item,
            status=status,
            next_step=f"Look at pull request {step.number}: midwatch job diff {jobs[step.job].number}"
            if open_again
            else "",
            owner="human" if open_again else None,
            why=why,
        )
        for step in row.order
    ]


async def _recorded(journal: Journal, records: Records, row: StackRow, events: list[Event], *, by: str) -> StackRow:
    await journal.record(*events, actor=by)
    return await records.get(StackRow, row.id)
