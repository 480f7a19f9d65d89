"""When a run is over, and how it ended: one job for each repository it works in, counted together (X16)."""

from collections.abc import Sequence

from midwatch.journal.events import Event
from midwatch.journal.events.jobs import RunFinished
from midwatch.journal.events.session import SessionDebriefing
from midwatch.ports.journal import Records
from midwatch.terms.jobs import JobState
from midwatch.terms.projects import SessionState
from midwatch.terms.records import JobRow, ProjectRow, RunRow, SessionRow

STATUS = {JobState.DONE: "completed", JobState.STOPPED: "stopped", JobState.DECLINED: "stopped"}


async def finish(records: Records, run_id: str) -> list[Event]:
    """Return the events that end a run, once all of its jobs are over; a command ends with its run."""
    run = await records.get(RunRow, run_id)
    session = await records.get(SessionRow, run.session)
    jobs = await records.find(JobRow, run=run.id)
    begun = {job.work_item for job in jobs}
    missing = [part for part in run.contract.parts if part.work_item not in begun]
    going = any(not job.state.over for job in jobs)
    if run.status != "running" or going or (missing and session.state is SessionState.AUTONOMOUS):
        return []
    names = {row.id: row.name for row in await records.find(ProjectRow)}
    result = [jobs[0].why] if len(jobs) == 1 and not missing else [f"{names[job.project]}: {job.why}" for job in jobs]
    result += [f"{names[part.project_id]}: not started" for part in missing]
    status = status_of([job.state for job in jobs], missing=len(missing))
    summary = "; ".join(result)
    over: list[Event] = [
        RunFinished.model_validate({"run": run.id, "session": run.session, "status": status, "summary": summary})
    ]
    if session.ad_hoc and session.state is SessionState.AUTONOMOUS:
        over.append(SessionDebriefing(session=session.id, reason="every job of it has ended"))
    return over


def status_of(states: Sequence[JobState], *, missing: int = 0) -> str:
    """All done is completed, some done is partial; else all stopped, or all without a delivery; the rest failed."""
    done = states.count(JobState.DONE)
    if done:
        return "completed" if done == len(states) and not missing else "partial"
    if states and all(state in STATUS for state in states):
        return "stopped"
    if states and all(state is JobState.NOTHING_DELIVERED for state in states):
        return "nothing_delivered"
    return "failed"
