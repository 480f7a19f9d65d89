"""The plan of a job: drafted by its agent, compared with the orders, shown to the person, sent back if needed."""

from collections.abc import Mapping

from midwatch.journal.entry import canonical, digest
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobApproved, JobPlanned, PathAllowed, PlanReturned
from midwatch.journal.events.session import AskOpened
from midwatch.night.agents.assignment import assign, base_of
from midwatch.night.context import Roster, Workspace
from midwatch.night.jobs import interactive, milestones
from midwatch.night.jobs.job_limits import contract_of, tainted
from midwatch.night.jobs.no_commits import without_commits
from midwatch.night.notify.notice import job_notice
from midwatch.ports.agent import Agent
from midwatch.ports.books import Books
from midwatch.ports.journal import Journal, Records
from midwatch.rules.gate.contract import asks_for, faults, if_approved
from midwatch.rules.people.asks import approved_at_once, deadline_at, silence_in_words, what_silence_means
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.terms.asks import APPROVE, EDIT, REJECT, AskDraft, AskKind, AskState, Silence
from midwatch.terms.contract import RunContract
from midwatch.terms.jobs import JobState, Plan, Stage
from midwatch.terms.records import AskRow, JobRow, PlanRow, SessionRow

Events = tuple[Event, ...]
ORDERS = "the orders"
"""The sender of a plan that goes outside the signed orders."""


async def plan(books: Books, roster: Roster, workspace: Workspace, job: JobRow) -> Events:
    """Let the agent read the project and draft a plan, then ask the person about it."""
    if job.by_hand:
        return await interactive.planned(books.records, job)
    contract = await contract_of(books.records, job)
    agent, assignment = await assign(books, roster, workspace, job, base_of(job))
    drafted = await agent.plan(assignment)
    planned = JobPlanned(
        job=job.id,
        epoch=job.epoch,
        version=job.plan_version + 1,
        plan=drafted,
        plan_hash=digest(canonical(drafted.model_dump(mode="json"))),
    )
    if not drafted.files:
        return planned, *await without_commits(books, workspace, job, drafted)
    wrong = faults(drafted, contract)
    if wrong and agent.amends and not await _was_returned(books.records, job):
        wish = " ".join(("Stay inside the orders.", *wrong))
        return planned, PlanReturned(job=job.id, by=ORDERS, plan_hash=planned.plan_hash, wish=wish)
    return planned, *await _ask(books, roster.agents, job, contract, planned, wrong)


async def ask_again(books: Books, agents: Mapping[str, Agent], job_id: str) -> None:
    """Open the ask for a plan that waits for approval, if no such ask is open."""
    job = await books.records.get(JobRow, job_id)
    if job.stage is not Stage.APPROVE or job.state is not JobState.WAITING or job.plan is None:
        return
    if await books.records.find(AskRow, subject=job.id, kind=AskKind.APPROVE_PLAN, state=AskState.OPEN):
        return
    contract, version = await contract_of(books.records, job), job.plan_version
    planned = JobPlanned(job=job.id, epoch=job.epoch, version=version, plan=job.plan, plan_hash=job.plan_hash)
    before = job.model_copy(update={"plan_version": version - 1})  # with the same wording as the first time
    await books.journal.record(*await _ask(books, agents, before, contract, planned, faults(job.plan, contract)))


async def _was_returned(records: Records, job: JobRow) -> bool:
    """Whether the plan was sent back once; the second time it is shown to the person with what is wrong."""
    return bool(await records.find(PlanRow, job=job.id, fate="returned", by=ORDERS))


async def _ask(
    books: Books,
    agents: Mapping[str, Agent],
    job: JobRow,
    contract: RunContract,
    planned: JobPlanned,
    wrong: tuple[str, ...],
) -> Events:
    session, strange = (
        await books.records.get(SessionRow, job.session),
        await tainted(books.journal, books.records, job),
    )
    silence = what_silence_means(
        AskKind.APPROVE_PLAN,
        session.level,
        inside_scopes=not wrong,
        tainted=strange,
        silence_approves=contract.silence_approves,
    )
    if approved_at_once(silence, session.level):
        approved = JobApproved(job=job.id, by=f"level {session.level.value}", plan_hash=planned.plan_hash)
        return approved, *milestones.planned(books.ids, books.settings(), job, planned.plan.summary)
    settings = books.settings()
    minutes = settings.asks.approve_plan_minutes
    said = " ".join((*wrong, _after_approval(planned.plan, contract, strange=strange))) if wrong else ""
    draft = AskDraft(
        kind=AskKind.APPROVE_PLAN,
        question=_question(job, planned.plan, silence, minutes, said),
        options=(APPROVE, EDIT, REJECT) if agents[job.agent].amends else (APPROVE, REJECT),
        recommendation=REJECT if wrong else APPROVE,
        rationale=said or " ".join(planned.plan.approach),
        priority=7,
        deadline_minutes=minutes,
        silence=silence,
        blocking=True,
        subject=job.id,
        project=job.project,
        shown_hash=planned.plan_hash,
    )
    due = deadline_at(books.clock.now(), minutes) if silence is not Silence.WAITS else None
    opened = AskOpened(ask=books.ids.new("ask"), session=job.session, draft=draft, due_at=due)
    notice = job_notice(books.ids, job, tier_of(NoticeKind.PLAN_READY), draft.question, subject=opened.ask)
    return (opened, notice) if settings.notices.on_plan_ready else (opened,)


def _after_approval(plan: Plan, contract: RunContract, *, strange: bool) -> str:
    """Say what an approval opens; nothing in a run that read untrusted text, which may not widen what it may do."""
    if strange:
        return "The run read untrusted text, so an approval opens nothing outside your orders."
    return if_approved(plan, contract)


async def opened_by(journal: Journal, records: Records, ask: AskRow, job: JobRow) -> tuple[PathAllowed, ...]:
    """Return what a person's approval of a plan opens outside the orders' paths; silence and a level open nothing."""
    if job.plan is None or not ask.answered_by or await tainted(journal, records, job):
        return ()
    files = asks_for(job.plan, await contract_of(records, job))
    return tuple(PathAllowed(job=job.id, path=path, by=ask.answered_by, ask=ask.id) for path in files)


def _question(job: JobRow, plan: Plan, silence: Silence, minutes: float, outside: str) -> str:
    """Ask about a plan: name what goes outside the orders, and say what no answer means."""
    again = f", version {job.plan_version + 1}" if job.plan_version else ""
    left = f" It goes outside your orders. {outside}" if outside else ""
    # An agent often repeats its order as the summary.
    titled = "" if plan.summary.rstrip(".").casefold() == job.title.rstrip(".").casefold() else f" ({job.title})"
    return f"Plan for job {job.number}{titled}{again}: {plan.summary}{left} {silence_in_words(silence, minutes)}"
