"""What starts a job: a mission and a run with its contract, or the run that a sibling started (X16)."""

from dataclasses import dataclass

from midwatch.errors import Stale
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobCreated, MissionCreated, RunStarted
from midwatch.journal.events.projects import WorkChanged
from midwatch.night.rounds.contracts import company_of, contract_for, joint_contract
from midwatch.night.rounds.world import World
from midwatch.ports.clock import Ids
from midwatch.ports.journal import Records
from midwatch.terms.acts import Proposal
from midwatch.terms.contract import RunContract
from midwatch.terms.projects import WorkStatus
from midwatch.terms.records import RunRow


@dataclass(frozen=True, slots=True)
class Begun:
    """The ids of a job that starts, and of its run and act."""

    run: str
    job: str
    act: str
    by_hand: bool = False


async def start_events(
    ids: Ids, records: Records, world: World, proposal: Proposal, act: str
) -> tuple[list[Event], str]:
    """Return the events that start a job for one ordered item, and the job's id."""
    mission, job = ids.new("mis"), ids.new("job")
    contract = contract_for(world.session, proposal, world.projects, world.settings, mission)
    if contract is None:
        raise Stale("This is no longer ordered.")
    run = await _joined(records, world, proposal.target)
    events: list[Event] = []
    if not run:
        run = ids.new("run")
        events = run_events(world, proposal, contract, run)
    return [*events, *job_events(world, proposal, contract, Begun(run, job, act))], job


async def _joined(records: Records, world: World, work_item: str) -> str:
    """Find the run that waits for this part: started by a sibling, and with no job for it yet."""
    runs = await records.find(RunRow, session=world.session.id, status="running")
    for run in runs:
        begun = {job.work_item for job in world.jobs if job.run == run.id}
        if work_item in {part.work_item for part in run.contract.parts} - begun:
            return run.id
    return ""


def run_events(world: World, proposal: Proposal, contract: RunContract, run: str) -> list[Event]:
    """Open a mission and its run; the contract covers every part of the work that has not started."""
    session = world.session
    begun = {job.work_item for job in world.jobs} - {proposal.target}
    company = [item["work_item"] for item in company_of(session, proposal.target) if item["work_item"] not in begun]
    whole = joint_contract(contract, session, company, world.projects, world.settings)
    return [
        MissionCreated(
            mission=contract.mission_id,
            session=session.id,
            project=proposal.project,
            title=contract.objective,
            objective=contract.objective,
            work_items=whole.work_item_links,
        ),
        RunStarted(run=run, session=session.id, mission=contract.mission_id, project=proposal.project, contract=whole),
    ]


def job_events(world: World, proposal: Proposal, contract: RunContract, begun: Begun) -> list[Event]:
    """Create one job for the agent that its orders name."""
    return [
        JobCreated(
            job=begun.job,
            session=world.session.id,
            run=begun.run,
            project=proposal.project,
            work_item=proposal.target,
            title=contract.objective,
            agent=contract.agent,
            act=begun.act,
            by_hand=begun.by_hand,
        ),
        WorkChanged(item=proposal.target, status=WorkStatus.IN_PROGRESS, why="a job was started"),
    ]
