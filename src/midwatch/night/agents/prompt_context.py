"""Gathers the facts for an agent's prompt: orders, project, signals, priorities, commits, earlier proposals."""

from collections.abc import Sequence

from midwatch.night.context import Workspace
from midwatch.night.delivery.siblings import heard, siblings
from midwatch.night.jobs.job_limits import lists_of, proof_request, scope_of
from midwatch.ports.agent import FormerPullRequest, TaskFacts, TaskLimits, TaskProject
from midwatch.ports.books import Books
from midwatch.ports.journal import Blobs, Records
from midwatch.ports.workspace import Proofs
from midwatch.rules.budget.time_boxes import boxed
from midwatch.rules.checks.discovery import NONE
from midwatch.rules.gate.levels import HOUSEKEEPER
from midwatch.rules.recovery.recovery import remedy_of
from midwatch.rules.recovery.tries import failures_of
from midwatch.terms.acts import Proposer
from midwatch.terms.agents import Errand, FormerTry, SignalKind, SignalState
from midwatch.terms.contract import RunContract
from midwatch.terms.jobs import Stage
from midwatch.terms.projects import WorkStatus
from midwatch.terms.records import (
    ActRow,
    GoalRow,
    JobRow,
    MessageRow,
    OutcomeRow,
    PlanRow,
    ProjectRow,
    PullRequestRow,
    ReportRow,
    SessionRow,
    SignalRow,
    WorkRow,
)
from midwatch.terms.report import ReviewOutcome
from midwatch.terms.trust import Isolation

COMMITS = 10
SIGNALS = 3
PRIORITIES = 10
PULL_REQUESTS = 50
"""Of the housekeeper: what was rejected long before has changed since, or is in a later one."""
ERRANDS = {Stage.PLAN: Errand.PLAN, Stage.EXECUTE: Errand.EXECUTE, Stage.REPAIR: Errand.REPAIR}
OPEN = (WorkStatus.BACKLOG, WorkStatus.BLOCKED)


async def task_facts(books: Books, workspace: Workspace, job: JobRow, contract: RunContract, commit: str) -> TaskFacts:
    """Gather the facts; unknown ones stay empty and are left out of the prompt."""
    session = await books.records.get(SessionRow, job.session)
    project = await books.records.get(ProjectRow, job.project)
    messages = await books.records.find(MessageRow, session=job.session)
    plans, scope, execution = job.stage is Stage.PLAN, scope_of(contract), books.settings().execution
    lists = lists_of(books.settings(), project, contract)
    return TaskFacts(
        errand=ERRANDS[job.stage],
        objective=contract.objective,
        goals=session.orders.goals,
        success_criteria=contract.success_criteria,
        notes=session.orders.notes,
        said="\n".join(message.text for message in messages),
        paths=contract.paths,
        do_not_touch=contract.constraints.do_not_touch,
        tools=lists.told(walled=job.isolation is Isolation.BUBBLEWRAP),
        checks=await _checks(workspace.proofs, job, contract),
        done_when=contract.done_when,
        limits=TaskLimits(
            scope.max_files_changed or 0, scope.max_diff_lines or 0, contract.constraints.max_runtime_minutes
        ),
        project=TaskProject(
            project.name, project.purpose, project.branch, commit, "" if project.setup == NONE else project.setup
        ),
        answers=() if plans else await _answers(books.records, job),
        signals=await _signals(books.records, job),
        priorities=await _priorities(books.records, job),
        together=tuple(heard(one) for one in await siblings(books.records, job)),
        commits=await workspace.mirrors.last_subjects(job.project, commit, COMMITS),
        former_plan=job.plan if plans and job.plan_wish else None,
        wish=job.plan_wish if plans else "",
        rejected=await _rejected(books.records, job) if plans else (),
        own=await _own(books.records, job),
        interrupted=await _interrupted(books.records, job),
        former=await _former(books.records, books.blobs, job),
        proposed=await _proposed(books.records, job),
        pieces=execution.commit_strategy == "incremental",
    )


async def _own(records: Records, job: JobRow) -> str:
    """Return the task in the brain's own words (O7); nothing where it only repeats the title."""
    while not job.act and job.retry_of:
        job = await records.get(JobRow, job.retry_of)
    for act in await records.find(ActRow, id=job.act) if job.act else ():
        proposal = act.proposal
        said = [text for text in (proposal.prompt.strip(), proposal.message.strip()) if text not in {"", job.title}]
        return "\n\n".join(said) if proposal.by is Proposer.BRAIN else ""
    return ""


async def _interrupted(records: Records, job: JobRow) -> bool:
    """Whether its own work is in the checkout: after a wait, or after a time box ended."""
    if job.stage is Stage.PLAN:
        return False
    former = await records.get(JobRow, job.retry_of) if job.retry_of else None
    goes_on = former is not None and boxed(former) and former.plan_hash == job.plan_hash
    return goes_on or bool(job.waits or (job.conversation and job.attempt > 1))


async def _former(records: Records, blobs: Blobs, job: JobRow) -> FormerTry | None:
    """Return why the last try at this work failed; a try that only waited, or was stopped, did not fail."""
    others = await records.find(JobRow, session=job.session)
    before = [one for one in others if one.work_item == job.work_item and one.number <= job.number]
    failures = failures_of(before, job.work_item, None)
    last = before[-1] if before and before[-1].failures else (before[-2] if len(before) > 1 else None)
    if not failures or last is None or not last.failures:
        return None
    failure = failures[-1]
    remedy = remedy_of(failure.cause)
    blob = await blobs.fetch(failure.output_blob) if failure.output_blob else b""
    return FormerTry(
        stage=failure.stage.said,
        cause=remedy.words,
        said=failure.said,
        differently=remedy.differently,
        tail=blob.decode("utf-8", "replace"),
        tries=len(failures),
    )


async def _signals(records: Records, job: JobRow) -> tuple[str, ...]:
    """Return the outcomes of the last jobs in this project, newest first."""
    others = [one for one in await records.find(JobRow, project=job.project) if one.id != job.id]
    over = [one for one in others if one.state.over][-SIGNALS:]
    ended = [f"Job {one.number}, {one.title}: {one.state.value}. {one.why}".strip() for one in reversed(over)]
    return *await _written(records, job), *ended


async def _written(records: Records, job: JobRow) -> tuple[str, ...]:
    """Return the last signals of agents in this project, newest first; this job's own come first."""
    rows = await records.find(SignalRow, project=job.project, state=SignalState.KEPT, refused="")
    last = sorted(rows, key=lambda one: (one.job == job.id, one.created_at), reverse=True)[:SIGNALS]
    said = {SignalKind.ERROR: "trouble", SignalKind.COMPLETED: "done"}
    mine = {True: "You said", False: "An earlier job said"}
    return tuple(f"{mine[one.job == job.id]} ({said[one.says]}): {one.text} {one.detail}".strip() for one in last)


async def _checks(proofs: Proofs, job: JobRow, contract: RunContract) -> tuple[str, ...]:
    """Return the checks that will judge the work: those that were named, or those found in the project."""
    if not contract.finds_checks:
        return contract.checks
    commands = await proofs.commands(proof_request(job, contract))
    return tuple(one for one in commands if one not in contract.done_when)


async def _answers(records: Records, job: JobRow) -> tuple[tuple[str, str], ...]:
    """Return the job's questions so far, with the answers."""
    rows = await records.find(SignalRow, job=job.id, says=SignalKind.NEEDS_INPUT)
    asked = sorted((one for one in rows if one.answer and not one.refused), key=lambda one: one.number)
    return tuple((one.text, f"{one.answer} ({one.answered_by})") for one in asked)


async def _rejected(records: Records, job: JobRow) -> tuple[str, ...]:
    """Return what people said when they rejected plans for the same work, the latest last."""
    others = [one.id for one in await records.find(JobRow, project=job.project) if one.title == job.title]
    turned_down = await records.find(PlanRow, job=tuple(others), fate="rejected") if others else ()
    return tuple(one.said for one in turned_down[-SIGNALS:])


async def _priorities(records: Records, job: JobRow) -> tuple[str, ...]:
    """Return the project's goals and other work, the most pressing first: priority 1."""
    goals = await records.find(GoalRow, project=job.project, current=True, status="open")
    items = await records.find(WorkRow, project=job.project, status=OPEN)
    said = [(one.priority, f"Goal: {one.statement}") for one in goals]
    said += [(one.priority, f"To do: {one.title}") for one in items if one.id != job.work_item]
    return tuple(text for _, text in sorted(said, key=lambda each: each[0])[:PRIORITIES])


async def _proposed(records: Records, job: JobRow) -> tuple[FormerPullRequest, ...]:
    """Return the housekeeper's open pull requests, and those that people rejected, the oldest first.

    A model reads the project's history instead; other agents get none.
    """
    if job.agent != HOUSEKEEPER:
        return ()
    jobs = {one.id: one for one in await records.find(JobRow, project=job.project, agent=HOUSEKEEPER)}
    rows = await records.find(PullRequestRow, project=job.project, state=("open", "closed"))
    pulls = [row for row in rows if row.job in jobs and row.job != job.id][-PULL_REQUESTS:]
    rejected = await _rejected_jobs(records, [jobs[row.job] for row in pulls])
    return tuple(
        FormerPullRequest(row.number, row.base, row.head, row.state == "closed" or row.job in rejected) for row in pulls
    )


async def _rejected_jobs(records: Records, jobs: Sequence[JobRow]) -> frozenset[str]:
    """Return the jobs whose change was rejected in the review."""
    runs, sessions = tuple({one.run for one in jobs}), tuple({one.session for one in jobs})
    if not jobs:
        return frozenset()
    said = {row.id for row in await records.find(OutcomeRow, run=runs, outcome=ReviewOutcome.REJECTED)}
    reports = await records.find(ReportRow, session=sessions)
    given = [one for report in reports for one in report.recommendations if one.id in said]
    # A recommendation to look at a finding is not about the change.
    return frozenset(one.why.removeprefix("trace:") for one in given if not one.ask.startswith("Open "))
