"""What a job is bound by: its run's contract, and how far its work may reach."""

from midwatch.errors import Refused
from midwatch.ports.journal import Journal, Records
from midwatch.rules.gate.contract import WRITE, part_of
from midwatch.terms.contract import RunContract, ToolScope
from midwatch.terms.records import JobRow, RunRow


async def contract_of(records: Records, job: JobRow) -> RunContract:
    """Read what the run promised to keep to where this job works."""
    return part_of((await records.get(RunRow, job.run)).contract, job.project)


def scope_of(contract: RunContract) -> ToolScope:
    """How far the work may reach; a limit of nothing means that nothing may be written."""
    scope = contract.constraints.tool_policy.scopes.get(WRITE)
    if scope is None or 0 in {scope.max_files_changed, scope.max_diff_lines}:
        raise Refused("The orders do not allow writing (repo_write_pr).", hint="Name it in [permissions] tools.")
    return scope


def taint_of(job: str) -> str:
    """Name the entry of the first call by which a job read strangers' text."""
    return f"tainted:{job}"


async def tainted(journal: Journal, records: Records, job: JobRow) -> bool:
    """Tell whether a job, or one it takes over from, has: what was read then lies in its checkout and conversation."""
    former = {job.id}
    while await journal.known(taint_of(job.id)) is None:
        if not job.retry_of or job.retry_of in former:
            return False
        former.add(job.retry_of)
        job = await records.get(JobRow, job.retry_of)
    return True
