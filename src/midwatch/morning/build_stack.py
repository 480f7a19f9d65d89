"""The stack at dawn: made from a night's open pull requests when the night is over."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from midwatch.errors import MidwatchError, Stale, Unknown
from midwatch.journal.events.stack import StackBegun, StackMade
from midwatch.morning.context import Morning
from midwatch.morning.merge_trials import Question, Trials, UsedUp
from midwatch.morning.verdicts import verdicts_on
from midwatch.ports.books import Books
from midwatch.ports.journal import Records
from midwatch.ports.workspace import MergeTrials
from midwatch.rules.morning.merge_queue import Branch, reason
from midwatch.settings import Settings
from midwatch.terms.figures import some
from midwatch.terms.jobs import NOT_DELIVERABLE, Proof
from midwatch.terms.records import JobRow, ProjectRow, PullRequestRow, RunRow, SessionRow, StackRow, WorkRow
from midwatch.terms.report import ReviewOutcome
from midwatch.terms.stack import LeftOut, LeftOutWhy, StackState, StackStep, StackVerdict

GRACE = timedelta(minutes=2)
"""The worker that builds a stack ends it itself; if the worker is gone, a timer ends it so much later."""
UNKNOWN = 3
"""The priority of work that is no longer recorded: that of work for which none was given."""
HELD = {
    ReviewOutcome.REJECTED: LeftOutWhy.REJECTED,
    ReviewOutcome.DEFERRED: LeftOutWhy.DEFERRED,
    ReviewOutcome.PENDING: LeftOutWhy.UNREVIEWED,
}
VERDICTS = {"green": StackVerdict.GREEN, "still_red": StackVerdict.STILL_RED}


@dataclass(frozen=True, slots=True)
class Offered:
    """An open pull request and the job behind it."""

    row: PullRequestRow
    job: JobRow
    priority: int
    held: LeftOutWhy | None = None
    """Why the review keeps it out; before the review nothing is kept out, and nothing can be merged."""

    @property
    def unproven(self) -> bool:
        """Whether its own checks are red or not trustworthy; it was delivered as a draft and joins no stack."""
        return self.job.proof is not None and self.job.proof.verdict in NOT_DELIVERABLE

    @property
    def lines(self) -> int:
        """The number of lines it changes."""
        return self.job.change.insertions + self.job.change.deletions if self.job.change else 0


async def begin_at_dawn(books: Books, session: SessionRow) -> bool:
    """Start a stack in each project with two open pull requests; return whether one is still being built."""
    if books.settings().stack.at_dawn:
        for project in await _projects(books.records, session):
            key = f"stack:{session.id}:{project.id}"
            if (
                await books.journal.known(key) is None
                and len(await offers(books.records, books.settings(), project, session.id)) > 1
            ):
                with contextlib.suppress(Stale):  # another worker started it
                    await books.journal.record(_begun(books, project, session.id, "midwatch"), key=key)
    return bool(await books.records.find(StackRow, session=session.id, state=StackState.MAKING))


async def begin_again(books: Books, name: str, *, by: str) -> StackRow:
    """Start a project's stack now, even if there was one; one that is being built is returned."""
    project = await books.records.get(ProjectRow, name)
    if making := await books.records.find(StackRow, project=project.id, state=StackState.MAKING):
        return making[-1]
    opened = await books.records.find(PullRequestRow, project=project.id, state="open")
    if not opened:
        raise Unknown(f"{project.name} has no open pull request from Midwatch.", hint="See: midwatch job list")
    session = (await books.records.get(RunRow, opened[-1].run)).session
    begun = _begun(books, project, session, by)
    await books.journal.record(begun, actor=by)
    return await books.records.get(StackRow, begun.stack)


async def begin_after_review(books: Books, session: SessionRow, refused: frozenset[str]) -> tuple[StackBegun, ...]:
    """Start the stacks again that hold a pull request which the review did not accept."""
    newest = {row.project: row for row in await books.records.find(StackRow, session=session.id)}
    again = [
        row
        for row in newest.values()
        if row.state is StackState.MADE and {step.pull_request for step in row.order} & refused
    ]
    projects = {row.id: row for row in await books.records.find(ProjectRow, removed=False)}
    return tuple(
        _begun(books, projects[row.project], session.id, "midwatch") for row in again if row.project in projects
    )


def _begun(books: Books, project: ProjectRow, session: str, by: str) -> StackBegun:
    longest = timedelta(minutes=books.settings().stack.max_minutes) + GRACE
    pace = books.clock.real_seconds(1.0) or 1.0  # checks take real time, however fast Midwatch's clock runs
    return StackBegun(
        stack=books.ids.new("stk"),
        session=session,
        project=project.id,
        into=project.branch,
        by=by,
        due_at=books.clock.now() + longest / pace,
    )


async def _projects(records: Records, session: SessionRow) -> tuple[ProjectRow, ...]:
    runs = tuple(run.id for run in await records.find(RunRow, session=session.id))
    concerned = {row.project for row in await records.find(PullRequestRow, run=runs, state="open")}
    return await records.find(ProjectRow, id=tuple(sorted(concerned)), removed=False)


async def offers(records: Records, settings: Settings, project: ProjectRow, session: str) -> tuple[Offered, ...]:
    """List the open pull requests for a stack: the night's, and older ones if the settings say so."""
    opened = await records.find(PullRequestRow, project=project.id, state="open")
    if not settings.stack.include_older:
        runs = {run.id for run in await records.find(RunRow, session=session)}
        opened = tuple(row for row in opened if row.run in runs)
    jobs = {job.id: job for job in await records.find(JobRow, id=tuple(row.job for row in opened))}
    items = await records.find(WorkRow, id=tuple(job.work_item for job in jobs.values()))
    priority = {item.id: item.priority for item in items}
    said = await verdicts_on(records, opened)
    reviewed = any(one is not ReviewOutcome.PENDING for one in said.values())
    held = {row.id: HELD.get(said[row.id]) if reviewed else None for row in opened}
    return tuple(
        Offered(row, jobs[row.job], priority.get(jobs[row.job].work_item, UNKNOWN), held[row.id])
        for row in opened
        if row.job in jobs
    )


async def make(morning: Morning, stack_id: str) -> None:
    """Build a started stack, once; a late result changes nothing."""
    books = morning.books
    row = await books.records.get(StackRow, stack_id)
    if row.state is not StackState.MAKING:
        return
    project = await books.records.get(ProjectRow, row.project)
    offered = await offers(books.records, books.settings(), project, row.session)
    try:
        made = await _made(morning, row, project, offered)
    finally:
        with contextlib.suppress(MidwatchError):
            await morning.upkeep.discard(row.id, force=True)
    with contextlib.suppress(Stale):  # ended by the timer, or built by another worker
        await books.journal.record(made, key=f"stack:{row.id}:made")


async def _made(morning: Morning, row: StackRow, project: ProjectRow, offered: tuple[Offered, ...]) -> StackMade:
    stack = morning.books.settings().stack
    ends = asyncio.get_running_loop().time() + stack.max_minutes * 60
    fitting = tuple(one for one in offered if one.row.into == row.into and not one.unproven and not one.held)
    base = await morning.mirrors.update(project.id, project.path, row.into)
    asked = await _question(morning.books.records, morning.merges, row, project, base, fitting)
    trials = Trials(morning, asked, most_runs=stack.max_check_runs, ends=ends)
    used_up = False
    try:
        order = await trials.settle()
    except UsedUp:
        used_up = True
        order = trials.best or (trials.candidate if trials.commit(trials.candidate) not in trials.proofs else ())
    proof = trials.proofs.get(trials.commit(order), Proof())
    if order:
        await morning.merges.keep(project.id, row.id, trials.commit(order))
    return StackMade(
        stack=row.id,
        session=row.session,
        project=row.project,
        verdict=_verdict(order, proof, asked.checks, used_up=used_up),
        base=base,
        tip=trials.commit(order),
        order=_steps(trials, order, fitting),
        left_out=_left_out(trials, order, offered),
        checks=proof.delivered,
        check_runs=trials.runs,
        why=_why(trials, used_up=used_up),
    )


async def _question(
    records: Records, merges: MergeTrials, row: StackRow, project: ProjectRow, base: str, offered: Sequence[Offered]
) -> Question:
    runs = await records.find(RunRow, id=tuple(one.job.run for one in offered))
    checks = [check for run in runs for check in run.contract.checks]
    checks += [one.command for each in offered if each.job.proof for one in each.job.proof.before]
    # Jobs differ in which of the checks' own files they may change: together they may change only what all may.
    allowed = [frozenset(run.contract.paths) for run in runs]
    paths = frozenset.intersection(*allowed) if allowed else frozenset()
    keys = [one.job.setup_key for one in offered if one.job.setup_key]
    return Question(
        stack=row.id,
        project=project,
        base=base,
        branches=tuple([await _branch(merges, project.id, one, offered) for one in offered]),
        heads={one.row.id: one.row.head for one in offered},
        titles={one.row.id: one.row.title.strip() or f"Merge {one.row.branch}" for one in offered},
        checks=tuple(dict.fromkeys(checks)),
        paths=tuple(sorted(paths)),
        setup_key=keys[-1] if keys else "",
    )


async def _branch(merges: MergeTrials, project: str, one: Offered, offered: Sequence[Offered]) -> Branch:
    holds = merges.holds
    others = [each.row for each in offered if each.row.head != one.row.head]
    return Branch(
        id=one.row.id,
        priority=one.priority,
        proved=one.job.proof is not None and one.job.proof.verdict == "green",
        size=one.lines,
        opened=one.row.number,
        after=frozenset([row.id for row in others if await holds(project, row.head, one.row.head)]),
    )


def _verdict(order: Sequence[str], proof: Proof, checks: Sequence[str], *, used_up: bool) -> StackVerdict:
    if proof.verdict in VERDICTS and order:
        return VERDICTS[proof.verdict]
    if used_up:
        return StackVerdict.UNFINISHED
    if not order:
        return StackVerdict.NOTHING
    return StackVerdict.NO_CHECKS if not checks else StackVerdict.UNFINISHED


def _why(trials: Trials, *, used_up: bool) -> str:
    result = []
    if used_up:
        result.append(f"Time or check runs were used up after {some(trials.runs, 'check run')}.")
    if trials.other_setup:
        result.append("The merged tree needs a different setup; it was checked with the setup of its jobs.")
    return " ".join(result)


def _steps(trials: Trials, order: Sequence[str], offered: Sequence[Offered]) -> tuple[StackStep, ...]:
    by_id = {one.row.id: one for one in offered}
    return tuple(_step(by_id[name], trials.commit(tuple(order[:place]))) for place, name in enumerate(order, 1))


def _step(one: Offered, commit: str) -> StackStep:
    row = one.row
    return StackStep(
        pull_request=row.id,
        number=row.number,
        job=row.job,
        branch=row.branch,
        title=row.title,
        head=row.head,
        commit=commit,
        files=len(one.job.change.files) if one.job.change else 0,
        lines=one.lines,
    )


def _left_out(trials: Trials, order: Sequence[str], offered: Sequence[Offered]) -> tuple[LeftOut, ...]:
    numbers = {one.row.id: one.row.number for one in offered}
    facts = {one.id: one for one in trials.asked.branches}
    found = []
    for one in (one for one in offered if one.row.id not in order):
        row = one.row
        why, others, files = _reason(trials, order, facts.get(row.id), one)
        found.append(
            LeftOut(
                pull_request=row.id,
                number=row.number,
                job=row.job,
                branch=row.branch,
                title=row.title,
                why=why,
                others=tuple(sorted(numbers[name] for name in others)),
                files=files,
            )
        )
    return tuple(found)


def _reason(
    trials: Trials, order: Sequence[str], branch: Branch | None, one: Offered
) -> tuple[LeftOutWhy, frozenset[str], tuple[str, ...]]:
    if branch is None:
        return one.held or (LeftOutWhy.DRAFT if one.unproven else LeftOutWhy.ELSEWHERE), frozenset(), ()
    if clash := reason(branch, order, trials.clashes):
        why = LeftOutWhy.CHECKS if clash.by_checks else LeftOutWhy.CONFLICT
        return why, clash.members - {branch.id}, clash.files
    if missing := branch.after - set(order):
        return LeftOutWhy.NEEDS, missing, ()
    return LeftOutWhy.UNPROVEN, frozenset(), ()
