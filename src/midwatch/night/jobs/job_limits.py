"""The limits of a job: its run's contract, and what its work may change."""

from datetime import timedelta

from midwatch.errors import Refused
from midwatch.journal.events.jobs import PathAllowed
from midwatch.ports.journal import Journal, Records
from midwatch.ports.workspace import JobPlace, ProofRequest
from midwatch.rules.gate.contract import WRITE, opened, part_of
from midwatch.rules.tools.tool_lists import ToolLists
from midwatch.settings import Settings
from midwatch.terms.contract import RunContract, ToolScope
from midwatch.terms.orders import Orders
from midwatch.terms.records import JobRow, ProjectRow, RunRow


async def contract_of(records: Records, job: JobRow) -> RunContract:
    """Return the part of the run's contract for this job's project."""
    return part_of((await records.get(RunRow, job.run)).contract, job.project)


async def opened_contract(journal: Journal, records: Records, job: JobRow) -> RunContract:
    """Return the contract with the files outside its paths that a person allowed for this job, or one it continues."""
    return opened(await contract_of(records, job), await files_allowed(journal, records, job))


async def files_allowed(journal: Journal, records: Records, job: JobRow) -> tuple[str, ...]:
    """Return the files that a person allowed for this job, or for one it continues."""
    same, after, files = {job.id}, 0, dict[str, None]()
    while job.retry_of and job.retry_of not in same:
        job = await records.get(JobRow, job.retry_of)
        same.add(job.id)
    while entries := await journal.entries(after=after, kinds=("job.path_allowed",)):
        after = entries[-1].seq
        events = [entry.event for entry in entries]
        files |= {one.path: None for one in events if isinstance(one, PathAllowed) and one.job in same}
    return tuple(files)


def scope_of(contract: RunContract) -> ToolScope:
    """Return what the work may change; refused if a limit of 0 means nothing may be written."""
    scope = contract.constraints.tool_policy.scopes.get(WRITE)
    if scope is None or 0 in {scope.max_files_changed, scope.max_diff_lines}:
        raise Refused("The orders do not allow writing (repo_write_pr).", hint="Name it in [permissions] tools.")
    return scope


def ordered_paths(orders: Orders, project: ProjectRow, scope: ToolScope) -> tuple[str, ...]:
    """Return what the orders let change in a project, by any of their work in it."""
    named = {project.id, project.name, str(project.number)}
    paths = [one.paths or ("**",) for one in orders.pieces() if one.project in named]
    return tuple(dict.fromkeys((*scope.allowed_paths, *(path for some in paths for path in some))))


def lists_of(settings: Settings, project: ProjectRow, contract: RunContract) -> ToolLists:
    """Return the lists of tools that may bind a job; one in the settings binds if a person put it there."""
    execution = settings.execution
    return ToolLists(
        settings=execution.allowed_tools,
        chosen="allowed_tools" in execution.model_fields_set,
        project=project.tools,
        work=contract.tools,
        always=project.always_tools,
    )


def proof_request(job: JobRow, contract: RunContract) -> ProofRequest:
    """Say which checks a job has, for those who only need their names."""
    base = job.repository.head if job.repository else ""
    return ProofRequest(
        place=JobPlace(project=job.project, job=job.id, epoch=job.epoch),
        base=base,
        head=base,
        checks=contract.checks,
        project_checks=contract.project_checks,
        finds_checks=contract.finds_checks and bool(base),
        done_when=contract.done_when,
        wall=timedelta(minutes=contract.constraints.max_runtime_minutes),
        paths=contract.paths,
        setup_key=job.setup_key,
    )


def taint_of(job: str) -> str:
    """Return the key of the first call by which a job read untrusted text."""
    return f"tainted:{job}"


async def tainted(journal: Journal, records: Records, job: JobRow) -> bool:
    """Whether a job, or one it continues, read untrusted text: that text is in its checkout and conversation."""
    former = {job.id}
    while await journal.known(taint_of(job.id)) is None:
        if not job.retry_of or job.retry_of in former:
            return False
        former.add(job.retry_of)
        job = await records.get(JobRow, job.retry_of)
    return True
