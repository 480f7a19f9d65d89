"""The limits of a job: its run's contract, and what its work may change."""

from midwatch.errors import Refused
from midwatch.ports.journal import Journal, Records
from midwatch.rules.gate.contract import WRITE, part_of
from midwatch.terms.contract import RunContract, ToolScope
from midwatch.terms.records import JobRow, RunRow


async def contract_of(records: Records, job: JobRow) -> RunContract:
    """Return the part of the run's contract for this job's project."""
    return part_of((await records.get(RunRow, job.run)).contract, job.project)


def scope_of(contract: RunContract) -> ToolScope:
    """Return what the work may change; refused if a limit of 0 means nothing may be written."""
    scope = contract.constraints.tool_policy.scopes.get(WRITE)
    if scope is None or 0 in {scope.max_files_changed, scope.max_diff_lines}:
        raise Refused("The orders do not allow writing (repo_write_pr).", hint="Name it in [permissions] tools.")
    return scope


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
