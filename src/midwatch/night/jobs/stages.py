"""The stages of a job: each reads its facts and returns the events of its outcome; only ports act outside."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from midwatch.errors import Stale, Withheld
from midwatch.journal.events import Event
from midwatch.journal.events import jobs as ev
from midwatch.journal.events.workshop import SetupFinished
from midwatch.night.agents.assignment import base_of, setup_network
from midwatch.night.agents.listener import at_work
from midwatch.night.context import Night, Roster, Workspace
from midwatch.night.delivery.deliver import ask_for_review, by_person, deliver, tell
from midwatch.night.jobs import interactive, milestones
from midwatch.night.jobs.job_limits import opened_contract, scope_of
from midwatch.night.jobs.no_commits import nothing_delivered, without_commits
from midwatch.night.jobs.planning import plan
from midwatch.night.jobs.resume import followed
from midwatch.night.jobs.verifying import failure_text, verified
from midwatch.ports.books import Books
from midwatch.ports.journal import Records
from midwatch.ports.workspace import JobPlace, Mirrors, Rooms
from midwatch.rules.budget.egress import setup_clients
from midwatch.rules.gate.levels import effective_level
from midwatch.settings import Settings
from midwatch.terms.jobs import Done, RepositoryFacts, Stage
from midwatch.terms.records import JobRow, ProjectRow, SessionRow
from midwatch.terms.trust import Level

Events = tuple[Event, ...]


async def mirror(records: Records, mirrors: Mirrors, job: JobRow) -> Events:
    """Update the mirror and pin the base commit."""
    project = await records.get(ProjectRow, job.project)
    head = await mirrors.update(project.id, project.path, project.branch, job=job.id)
    session = await records.get(SessionRow, job.session)
    seen = [facts for facts in session.repositories if facts.path == project.path]
    dirty = seen[0].dirty if seen else ()
    facts = RepositoryFacts(path=project.path, branch=project.branch, head=head, dirty=dirty)
    return (ev.JobMirrored(job=job.id, epoch=job.epoch, repository=facts),)


async def set_up(books: Books, workspace: Workspace, job: JobRow) -> Events:
    """Make the project's setup available for every checkout."""
    if job.repository is None:
        raise Stale("There is no commit for the setup yet.")
    project = await books.records.get(ProjectRow, job.project)
    sandbox, head = books.settings().sandbox, job.repository.head
    allowed = setup_clients(sandbox.setup_domains, sandbox.registries)
    choice = await workspace.rooms.setup_choice(project.id, head, project.setup, allowed)
    made = await _make(books.settings(), workspace, job, choice.command, head) if choice.command else ()
    return *made, ev.JobPrepared(job=job.id, epoch=job.epoch, repository=job.repository)


async def _make(settings: Settings, workspace: Workspace, job: JobRow, command: str, commit: str) -> Events:
    """Run the setup, unless its cached result is still valid."""
    place = JobPlace(project=job.project, job=job.id, epoch=job.epoch)
    wall = timedelta(minutes=settings.sandbox.setup_minutes)
    key, reused, seconds = await workspace.rooms.set_up(
        place,
        commit,
        command,
        wall,
        await setup_network(settings, workspace.networks, job),
        workspace.wake_ups.of(job.id),
    )
    return (
        SetupFinished(
            job=job.id,
            epoch=job.epoch,
            project=job.project,
            command=command,
            fingerprint=key,
            reused=reused,
            seconds=seconds,
        ),
    )


async def execute(books: Books, roster: Roster, workspace: Workspace, job: JobRow) -> Events:
    """Let the agent carry out the approved plan in its own clone."""
    if job.plan is None or not job.approved_by:
        raise Stale("The plan is not approved.")
    session = await books.records.get(SessionRow, job.session)
    if session.level is Level.OBSERVE and not by_person(job):
        raise Withheld("The level was lowered to observe.", hint="Approve the plan yourself, or raise the level again.")
    await _refuse_weak_walls(books.settings(), workspace.rooms, job, session.level)
    if job.by_hand:
        return await interactive.execute(books, roster, workspace, job)
    async with at_work(books, roster, workspace, job, base_of(job)) as (agent, assignment, listener):
        if held := await listener.owed_from_before():
            return held
        done = await agent.execute(assignment, job.plan)
        if held := await listener.owed_at_its_end():
            return held
    where = assignment.room.epoch
    await _commit_leftovers(workspace.rooms, job, where, done)
    executed = ev.JobExecuted(job=job.id, epoch=job.epoch, done=done, work_epoch=where)
    if not done.commits and await workspace.rooms.head_so_far(job.id, where) == base_of(job):
        return executed, *await without_commits(books, workspace, job, done)
    return (executed,)


async def _commit_leftovers(rooms: Rooms, job: JobRow, where: int, done: Done) -> None:
    """Commit what the agent left uncommitted, unless it named its own commits."""
    if not done.commits:
        text = f"{job.title}\n\n{job.agent} left this uncommitted; Midwatch committed it."
        await rooms.commit_leftovers(job.id, where, text)


async def _refuse_weak_walls(settings: Settings, rooms: Rooms, job: JobRow, level: Level) -> None:
    """Judge again on this machine: it may have a weaker sandbox than the worker that was asked first."""
    forced = settings.gate.unisolated_agents
    held = effective_level(level, rooms.isolation, job.agent, forced=forced)
    if held is Level.OBSERVE and level is not Level.OBSERVE and not by_person(job):
        raise Withheld(
            f"This machine has no sandbox for {job.agent}.",
            hint="Install bubblewrap (midwatch doctor says how), or approve the plan yourself.",
        )


async def bundle(records: Records, workspace: Workspace, job: JobRow) -> Events:
    """Bundle the agent's commits inside its sandbox."""
    if not await workspace.rooms.head_so_far(job.id, job.work_epoch):
        await _take_over(records, workspace.rooms, job)
    packed = await workspace.quarantine.bundle(_workplace(job), base_of(job))
    return (ev.JobBundled(job=job.id, epoch=job.epoch, bundle=packed),)


async def _take_over(records: Records, rooms: Rooms, job: JobRow) -> None:
    """Fetch finished work from the former job that has it: a job stopped before it bundled never fetched it."""
    for former in await followed(records, job):
        if await rooms.head_so_far(former.id, job.work_epoch):
            return await rooms.take_over(former.id, job.work_epoch, to=job.id, at=job.work_epoch)
    return None


def _workplace(job: JobRow) -> JobPlace:
    return JobPlace(project=job.project, job=job.id, epoch=job.work_epoch)


async def quarantine(books: Books, workspace: Workspace, job: JobRow) -> Events:
    """Inspect what really arrived before it is trusted."""
    contract, place, base = await opened_contract(books.journal, books.records, job), _workplace(job), base_of(job)
    packed = job.bundle or await workspace.quarantine.bundle(place, base)
    change = await workspace.quarantine.collect(
        place, base, packed, scope_of(contract), contract.constraints.do_not_touch
    )
    diff = await workspace.mirrors.diff(job.project, change.base, change.head)
    blob = await books.blobs.keep(diff.encode())
    arrived = ev.JobQuarantined(job=job.id, epoch=job.epoch, change=change, diff_blob=blob)
    return arrived, *milestones.remarks(books.settings(), job, change)


async def verify(books: Books, workspace: Workspace, job: JobRow) -> Events:
    """Run the checks in fresh checkouts, never in the agent's own tree."""
    return (await verified(books, workspace, job),)


async def repair(books: Books, roster: Roster, workspace: Workspace, job: JobRow) -> Events:
    """Give the agent the output of the failed checks and let it fix its work."""
    if job.change is None or job.proof is None:
        raise Stale("There is nothing to repair.")
    failure = failure_text(job.proof, each=books.settings().execution.repair_rounds)
    async with at_work(books, roster, workspace, job, job.change.head) as (agent, assignment, listener):
        if held := await listener.owed_from_before():
            return held
        done = await agent.repair(assignment, job.change.base, failure)
        if held := await listener.owed_at_its_end():
            return held
    where = assignment.room.epoch
    await _commit_leftovers(workspace.rooms, job, where, done)
    head = await workspace.rooms.head_so_far(job.id, where)
    if not done.commits and head == job.change.base:
        why = "Every change made the checks worse, so all of it was taken back."
        return await nothing_delivered(books, job, why)
    return (ev.JobRepaired(job=job.id, epoch=job.epoch, round=job.repairs + 1, done=done, work_epoch=where),)


STAGES: dict[Stage, Callable[[Night, JobRow], Awaitable[Events]]] = {
    Stage.MIRROR: lambda night, job: mirror(night.books.records, night.workspace.mirrors, job),
    Stage.SETUP: lambda night, job: set_up(night.books, night.workspace, job),
    Stage.PLAN: lambda night, job: plan(night.books, night.roster, night.workspace, job),
    Stage.EXECUTE: lambda night, job: execute(night.books, night.roster, night.workspace, job),
    Stage.BUNDLE: lambda night, job: bundle(night.books.records, night.workspace, job),
    Stage.QUARANTINE: lambda night, job: quarantine(night.books, night.workspace, job),
    Stage.VERIFY: lambda night, job: verify(night.books, night.workspace, job),
    Stage.REPAIR: lambda night, job: repair(night.books, night.roster, night.workspace, job),
    Stage.DELIVER: lambda night, job: deliver(night.books, night.outside, job),
    Stage.PULL_REQUEST: lambda night, job: ask_for_review(night.books, night.outside, job),
    Stage.NOTICE: lambda night, job: tell(night.books, job),
}
