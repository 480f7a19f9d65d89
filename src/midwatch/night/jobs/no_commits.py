"""The end of a job without commits: shown to be unneeded, or nothing delivered (RULES 10)."""

from dataclasses import replace

from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobEnded
from midwatch.night.context import Workspace
from midwatch.night.jobs.job_limits import contract_of, proof_request
from midwatch.night.notify.notice import cut, in_check_in, job_notice
from midwatch.ports.books import Books
from midwatch.rules.checks.check_runs import already_true, not_yet, shown_unneeded
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.terms.contract import RunContract
from midwatch.terms.jobs import CheckResult, Done, Plan
from midwatch.terms.records import JobRow, SessionRow


async def without_commits(books: Books, workspace: Workspace, job: JobRow, left: Plan | Done) -> tuple[Event, ...]:
    """End a job whose plan names no files, or whose work has no commits.

    It is done if what the orders name as done passes on the base, or, where they name nothing, by a confirmed survey.
    """
    contract = await contract_of(books.records, job)
    if contract.done_when:
        results = await _on_the_base(workspace, job, contract)
        shown = already_true(results)
        why = shown.text if shown else not_yet(results)
    else:
        shown, why = shown_unneeded(job.agent, left.survey, left.dropped if isinstance(left, Done) else ()), ""
    told = " ".join((left.summary, why)).strip()
    if shown is not None:
        return (JobEnded(job=job.id, epoch=job.epoch, state="done", why=told, unneeded=shown.text),)
    return await nothing_delivered(books, job, told)


async def _on_the_base(workspace: Workspace, job: JobRow, contract: RunContract) -> tuple[CheckResult, ...]:
    """Run what the orders name as done, and the checks, where nothing was changed."""
    request = replace(proof_request(job, contract), stop=workspace.wake_ups.of(job.id))
    return await workspace.proofs.baseline(request)


async def nothing_delivered(books: Books, job: JobRow, why: str) -> tuple[Event, ...]:
    """End a job that delivers nothing, and tell the person: what was ordered is still to be done."""
    ended = JobEnded(job=job.id, epoch=job.epoch, state="nothing_delivered", why=why)
    tier = tier_of(NoticeKind.ERROR)
    together = in_check_in(await books.records.get(SessionRow, job.session), NoticeKind.ERROR, tier)
    if together or not books.settings().notices.on_error:
        return (ended,)
    text = f"Job {job.number} ({job.title}) delivered nothing: {cut(why)}"
    return ended, job_notice(books.ids, job, tier, text)
