"""Gathers what an agent is told about its work: orders, project, last signals, what is pressing, last commits."""

from midwatch.night.roles import Night
from midwatch.night.together import heard, siblings
from midwatch.terms.agents import Told
from midwatch.terms.contract import RunContract
from midwatch.terms.house import WorkStatus
from midwatch.terms.jobs import Stage
from midwatch.terms.records import GoalRow, JobRow, MessageRow, ProjectRow, SessionRow, WorkRow

COMMITS = 10
SIGNALS = 3
PRIORITIES = 10
OPEN = (WorkStatus.BACKLOG, WorkStatus.BLOCKED)


async def tell_about(night: Night, job: JobRow, contract: RunContract, commit: str) -> Told:
    """Gather it; what nobody knows stays empty and is not mentioned."""
    session = await night.records.get(SessionRow, job.session)
    project = await night.records.get(ProjectRow, job.project)
    messages = await night.records.find(MessageRow, session=job.session)
    return Told(
        objective=contract.objective,
        goals=session.orders.goals,
        success_criteria=contract.success_criteria,
        notes=session.orders.notes,
        project=project.name,
        purpose=project.purpose,
        branch=project.branch,
        base=commit,
        setup=project.setup,
        minutes=contract.constraints.max_runtime_minutes,
        said="\n".join(message.text for message in messages),
        signals=await _signals(night, job),
        priorities=await _priorities(night, job),
        together=tuple(heard(one) for one in await siblings(night, job)),
        commits=await night.bench.last_subjects(job.project, commit, COMMITS),
        interrupted=job.stage is not Stage.PLAN and bool(job.waits or (job.conversation and job.attempt > 1)),
    )


async def _signals(night: Night, job: JobRow) -> tuple[str, ...]:
    """What became of the last jobs in this project, newest first."""
    others = [one for one in await night.records.find(JobRow, project=job.project) if one.id != job.id]
    over = [one for one in others if one.state.over][-SIGNALS:]
    return tuple(f"Job {one.number}, {one.title}: {one.state.value}. {one.why}".strip() for one in reversed(over))


async def _priorities(night: Night, job: JobRow) -> tuple[str, ...]:
    """The project's goals and what else is to be done there, the most pressing first."""
    goals = await night.records.find(GoalRow, project=job.project, current=True, status="open")
    items = await night.records.find(WorkRow, project=job.project, status=OPEN)
    said = [(one.priority, f"Goal: {one.statement}") for one in goals]
    said += [(one.priority, f"To do: {one.title}") for one in items if one.id != job.work_item]
    return tuple(text for _, text in sorted(said, key=lambda each: -each[0])[:PRIORITIES])
