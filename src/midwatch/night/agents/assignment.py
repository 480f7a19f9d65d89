"""Gives an agent its task: the room, the limits, the hosts it may reach."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta

from midwatch.errors import Exhausted, Misuse, Stale, Withheld
from midwatch.night.agents.agent_events import Teller
from midwatch.night.agents.final_output import last_head
from midwatch.night.agents.prompt_context import task_facts
from midwatch.night.agents.tool_decisions import Decider
from midwatch.night.context import Roster, Workspace
from midwatch.night.jobs.job_limits import contract_of, files_allowed, scope_of
from midwatch.night.jobs.resume import followed
from midwatch.ports.agent import Agent, Task
from midwatch.ports.books import Books
from midwatch.ports.clock import Clock
from midwatch.ports.journal import Records
from midwatch.ports.network import NetworkReach, Networks, RoomNetwork
from midwatch.ports.workspace import JobPlace, RoomRequest, Rooms
from midwatch.rules.gate.levels import no_way_to_model
from midwatch.settings import Settings
from midwatch.terms.agents import Access, ModelAccess
from midwatch.terms.contract import RunContract
from midwatch.terms.jobs import Stage
from midwatch.terms.records import JobRow, SessionRow

MIB = 1024**2
LEAST_TIME = timedelta(seconds=30)


async def assign(books: Books, roster: Roster, workspace: Workspace, job: JobRow, commit: str) -> tuple[Agent, Task]:
    """Find the agent and give it a room at a commit; while planning it may only read."""
    agent = roster.agents.get(job.agent)
    if agent is None:
        known = ", ".join(sorted(roster.agents))
        raise Misuse(f"There is no agent {job.agent!r} here.", hint=f"Agents: {known}.")
    contract = await contract_of(books.records, job)
    scope_of(contract)  # refuses where nothing may be written
    also = await files_allowed(books.journal, books.records, job) if contract.paths else ()
    shown = contract.model_copy(update={"paths": (*contract.paths, *also)})
    settings = books.settings()
    purpose = f"{job.stage.value}.{job.attempt}.{job.plan_version}.{job.repairs}.{job.waits}"
    reach = _reach(books.settings(), roster.models, job, contract, purpose)
    if reach.model is not None and (why := no_way_to_model(job.agent, workspace.rooms.isolation)):
        raise Withheld(why, hint="Install bubblewrap (midwatch doctor says how), or order another agent.")
    request = RoomRequest(
        place=JobPlace(project=job.project, job=job.id, epoch=job.epoch),
        commit=commit,
        purpose=purpose,
        paths=shown.paths,
        sparse_from=settings.sandbox.sparse_min_files,
        reads_only=job.stage is Stage.PLAN,
        setup_key=job.setup_key,
        takes_over=await _taken_over(books.records, workspace.rooms, job),
        wall=_time_left(books.clock, job, contract),
        idle=timedelta(minutes=settings.execution.idle_minutes),
        grace=grace(books.settings()),
        night_left=await _night_left(books.clock, books.records, job),
        network=await workspace.networks.for_room(reach),
        stop=workspace.wake_ups.of(job.id),
        room_bytes=settings.sandbox.room_mib * MIB,
        room_files=settings.sandbox.room_max_files,
        floor_bytes=settings.sandbox.min_free_disk_mib * MIB,
    )
    try:
        async with asyncio.TaskGroup() as group:  # the facts are read while git makes the clone
            entering = group.create_task(workspace.rooms.enter(request))
            gathering = group.create_task(task_facts(books, workspace, job, shown, commit))
    except ExceptionGroup as several:
        raise several.exceptions[0] from None
    room, facts = entering.result(), gathering.result()
    return agent, Task(
        job=job.id,
        title=job.title,
        facts=facts,
        room=room,
        decide=Decider(books, workspace, job, contract, facts.errand, room),
        tell=Teller(books.journal, books.blobs, job, reach.model.provider if reach.model else "", room.epoch),
        access=_access(workspace.networks, reach),
        conversation=job.conversation if job.stage is not Stage.PLAN else "",
        idle=request.idle,
        met=lambda: workspace.networks.met(job.id),
    )


def _access(networks: Networks, reach: NetworkReach) -> Access:
    base_url, placeholder, kind = networks.access(reach)
    return Access(base_url=base_url, placeholder=placeholder, kind=kind)


def base_of(job: JobRow) -> str:
    """Return the base commit of the work."""
    if job.repository is None:
        raise Stale("The job was never prepared.")
    return job.repository.head


def wall_of(contract: RunContract) -> timedelta:
    """Return how long one command may take."""
    return timedelta(minutes=contract.constraints.max_runtime_minutes)


def grace(settings: Settings) -> timedelta:
    """Return how long a program has to end after it is asked to stop."""
    return timedelta(seconds=settings.sandbox.stop_grace_seconds)


async def setup_network(settings: Settings, networks: Networks, job: JobRow) -> RoomNetwork:
    """Let a project's setup reach the hosts that the settings allow for setups, such as registries."""
    sandbox = settings.sandbox
    reach = NetworkReach(job.id, job.epoch, sandbox.setup_domains, sandbox.max_requests, sandbox.registries)
    return await networks.for_room(reach)


def _reach(
    settings: Settings, models: Mapping[str, ModelAccess], job: JobRow, contract: RunContract, purpose: str
) -> NetworkReach:
    sandbox = settings.sandbox
    scopes = contract.constraints.tool_policy.scopes.values()
    named = tuple(domain for scope in scopes for domain in scope.allowed_domains)
    most = min((scope.max_requests for scope in scopes if scope.max_requests is not None), default=sandbox.max_requests)
    return NetworkReach(
        job.id,
        job.epoch,
        (*sandbox.domains, *named),
        most,
        purpose=purpose,
        model=models.get(job.agent),
    )


async def _taken_over(records: Records, rooms: Rooms, job: JobRow) -> str:
    """Return the job whose checkout this one resumes: itself, or once the job it continues; empty for a fresh one."""
    if job.stage is Stage.PLAN:
        return ""
    if job.stage is Stage.EXECUTE:
        for former in await followed(records, job):
            # A job that ended before it entered a room left the work with an earlier one.
            if await last_head(rooms, former):
                return former.id
    # The work was not the problem, and an agent that remembers its changes must find them in the checkout.
    return job.id if job.waits or (job.conversation and job.attempt > 1) else ""


def _time_left(clock: Clock, job: JobRow, contract: RunContract) -> timedelta:
    """Return what is left of the job's time; resumed and restarted work is counted once (X1)."""
    left = wall_of(contract) - timedelta(seconds=clock.real_seconds(job.ran_seconds))
    if left < LEAST_TIME:
        raise Exhausted(
            f"Its {contract.constraints.max_runtime_minutes} minutes are used up.",
            hint="Its work is kept; order the rest again, or allow more minutes.",
        )
    return left


async def _night_left(clock: Clock, records: Records, job: JobRow) -> timedelta | None:
    session = await records.get(SessionRow, job.session)
    if session.ends_at is None:
        return None
    left = (session.ends_at - clock.now()).total_seconds()
    return timedelta(seconds=clock.real_seconds(max(0.0, left)))
