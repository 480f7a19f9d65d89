"""Proves a job's work and sends it to repair: each failure has its own repair rounds and its own part of the prompt."""

from midwatch.errors import Stale
from midwatch.journal.events.jobs import JobVerified
from midwatch.night.agents.assignment import wall_of
from midwatch.night.context import Workspace
from midwatch.night.jobs.job_limits import contract_of
from midwatch.ports.books import Books
from midwatch.ports.workspace import JobPlace, ProofRequest
from midwatch.rules.checks.check_runs import DOUBTS, carry_on, failing, may_repair, to_repair
from midwatch.terms.jobs import Proof
from midwatch.terms.records import JobRow


async def verified(books: Books, workspace: Workspace, job: JobRow) -> JobVerified:
    """Run the checks in fresh checkouts, never in the agent's own tree, and decide whether a repair follows."""
    if job.change is None:
        raise Stale("There is nothing to check.")
    if job.proof is not None and job.proof.head == job.change.head:
        return JobVerified(job=job.id, epoch=job.epoch, proof=job.proof, repair=False)  # the repair changed nothing
    contract = await contract_of(books.records, job)
    execution = books.settings().execution
    request = ProofRequest(
        place=JobPlace(project=job.project, job=job.id, epoch=job.epoch),
        base=job.change.base,
        head=job.change.head,
        checks=contract.checks,
        project_checks=contract.project_checks,
        finds_checks=contract.finds_checks,
        done_when=contract.done_when,
        reruns=execution.max_check_reruns,
        claims=claims_of(job),
        wall=wall_of(contract),
        paths=contract.paths,
        setup_key=job.setup_key,
        earlier=job.proof,
        stop=workspace.wake_ups.of(job.id),
    )
    proof = carry_on(job.proof, await workspace.proofs.prove(request))
    # A person repairs interactive work, not the agent.
    repair = not job.by_hand and may_repair(proof, each=execution.repair_rounds, rounds=job.repairs)
    return JobVerified(job=job.id, epoch=job.epoch, proof=proof, repair=repair)


def claims_of(job: JobRow) -> tuple[str, ...]:
    """Return what the agent said about its work: its summary and its commits' subjects."""
    said = (job.done.summary,) if job.done else ()
    subjects = tuple(one.subject for one in job.change.commits) if job.change else ()
    return (*said, *subjects)


def failure_text(proof: Proof, *, each: int) -> str:
    """Return the text about what to fix: the output of each failure, and the doubts about the change."""
    wanted = to_repair(proof, each=each)
    delivered = {one.command: one for one in proof.delivered}
    pieces = []
    for one in failing(proof):
        if one.command in wanted:
            as_delivered = delivered.get(one.command)
            fooled = as_delivered is not None and as_delivered.green
            how = "\n(with the project's own tests and settings restored)" if fooled else ""
            said = f"{one.failing_line}\n\n" if one.failing_line else ""
            pieces.append(f"$ {one.command}{how}\n{said}{one.shown}")
    if DOUBTS in wanted or (pieces and proof.grave):
        text = "\n".join(f"- {doubt.text}" for doubt in proof.grave)
        pieces.append(f"Found in the change, to be reverted:\n{text}")
    return "\n\n".join(pieces)
