"""Reads the parts of a job's line: its contract, the end of its night, and what a plan may cost."""

from collections.abc import Sequence

from midwatch.compose.read_side import ReadSide
from midwatch.rules.gate.contract import part_of
from midwatch.rules.recovery.liveness import standing_of
from midwatch.settings.zone import local_time
from midwatch.terms.asks import AskState
from midwatch.terms.figures import micros
from midwatch.terms.records import AskRow, JobRow, RunRow, SessionRow, TimerRow
from midwatch.views.pages.job_line import JobLine, job_line


async def lines_of(house: ReadSide, jobs: Sequence[JobRow]) -> dict[str, JobLine]:
    """Return each job's line by the job's id."""
    if not jobs:
        return {}
    find, now = house.records.find, house.clock.now()
    runs = {row.id: row for row in await find(RunRow, id=tuple({job.run for job in jobs}))}
    nights = {row.id: row for row in await find(SessionRow, id=tuple({job.session for job in jobs}))}
    asks, timers = await find(AskRow, state=AskState.OPEN), await find(TimerRow, kind="job")
    lines = {
        job.id: job_line(
            job,
            now,
            part_of(runs[job.run].contract, job.project) if job.run in runs else None,
            night_ends_at=nights[job.session].ends_at if job.session in nights else None,
            noun=nights[job.session].noun if job.session in nights else "night",
            planning_usd_micros=micros(house.loaded.settings.planning.max_cost_usd),
        )
        for job in jobs
    }
    return {job.id: _with_standing(house, job, lines[job.id], asks, timers) for job in jobs}


def _with_standing(
    house: ReadSide, job: JobRow, line: JobLine, asks: Sequence[AskRow], timers: Sequence[TimerRow]
) -> JobLine:
    """Add the job's progress, in the person's time zone."""
    standing = standing_of(job, asks, timers)
    said = standing.said(lambda at: f"{local_time(house.loaded.settings, at):%H:%M}")
    return line.model_copy(update={"path": standing.path.value, "standing": "" if job.state.over else said})
