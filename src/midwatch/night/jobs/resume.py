"""Where a job that continues another one starts, and which jobs it continues."""

from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobCreated, RunStarted
from midwatch.ports.clock import Ids
from midwatch.ports.journal import Records
from midwatch.rules.gate.contract import part_of
from midwatch.terms.jobs import Stage
from midwatch.terms.records import JobRow, PlanRow, RunRow


async def take_up(
    ids: Ids, records: Records, former: JobRow, stage: Stage, *, act: str = ""
) -> tuple[tuple[Event, ...], str]:
    """Return the events that start a run and a job to continue another, and the new job's id."""
    before = await records.get(RunRow, former.run)
    run, job = ids.new("run"), ids.new("job")
    started = RunStarted(
        run=run,
        session=former.session,
        mission=before.mission,
        project=former.project,
        contract=part_of(before.contract, former.project),
    )
    created = JobCreated(
        job=job,
        session=former.session,
        run=run,
        project=former.project,
        work_item=former.work_item,
        title=former.title,
        agent=former.agent,
        act=act,
        retry_of=former.id,
        by_hand=former.by_hand,
        stage=stage,
    )
    return (started, created), job


async def resume_stage(records: Records, job: JobRow) -> Stage:
    """Return where to resume: finished work is bundled again, an approved plan is executed, the rest starts over."""
    if job.done is not None and job.stage not in {Stage.EXECUTE, Stage.BUNDLE, Stage.QUARANTINE}:
        return Stage.BUNDLE
    if job.stage is Stage.BUNDLE and job.bundle is None:
        # It may have been created to bundle finished work, and ended before it did.
        former = await followed(records, job)
        if former and await resume_stage(records, former[0]) is Stage.BUNDLE:
            return Stage.BUNDLE
    return Stage.EXECUTE if job.approved_by and job.plan is not None else Stage.MIRROR


async def followed(records: Records, job: JobRow) -> tuple[JobRow, ...]:
    """List the jobs whose work it continues, newest first; a job with its own plan continues none."""
    found: list[JobRow] = []
    while job.retry_of and job.plan is not None and not await records.find(PlanRow, job=job.id):
        job = await records.get(JobRow, job.retry_of)
        found.append(job)
    return tuple(found)
