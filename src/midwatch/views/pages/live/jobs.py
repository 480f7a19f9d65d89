"""The jobs of a night as the Live page lists them: at work, not done, done, and earlier tries."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal

from midwatch.journal.events import Event
from midwatch.journal.events.crew import ToolCallDecided
from midwatch.terms.figures import minutes_in_words
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.records import JobRow, ProjectRow
from midwatch.terms.term import Term
from midwatch.views.entries.describe import describe
from midwatch.views.pages.job_line import JobLine, job_line
from midwatch.views.pages.walls import Walls, walls_of
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean, spaced

_LAST: Final = """job.created job.planned plan.returned job.approved job.executed job.verified job.repaired
    job.delivered job.stumbled job.waits job.woken job.boxed signal.seen milestone.reached agent.limited
    tool_call.decided"""
LAST_LINES: Final = frozenset(_LAST.split())
"""Entries that tell what a running job did last."""
STEPS: Final = tuple(stage for stage in Stage if stage is not Stage.REPAIR)


class JobStation(Term):
    """One stage of a job, and whether the job has reached it."""

    name: str
    state: str
    """done, now or later."""


class JobShown(Term):
    """One job, running or done."""

    id: str
    number: int
    title: str
    project: str
    stage: str
    state: str
    agent: str
    over: bool
    good: bool
    waits: bool
    started_at: datetime | None
    took: str = ""
    why: str = ""
    line: JobLine
    """What it is doing, what it cost so far, how long it may still take."""
    last: str = ""
    """The last thing that is known of it, in one line."""
    steps: tuple[JobStation, ...] = ()
    walls: Walls | None = None
    """What isolates it; nothing until a worker has claimed it."""


Group = Literal["at-work", "not-done", "done", "earlier"]
GROUPS: Final[dict[Group, str]] = {
    "at-work": "Under way",
    "not-done": "Not done",
    "done": "Done",
    "earlier": "Earlier tries",
}
OPEN: Final = frozenset({"at-work", "not-done"})
"""What is always listed; in a long night the others are counted, and listed on request."""
FEW: Final = 8
"""So many jobs are listed whatever became of them."""


class JobGroup(Term):
    """Jobs that are in the same situation."""

    id: Group
    name: str
    open: bool
    jobs: tuple[JobShown, ...]


def job_groups(shown: Iterable[JobShown], rows: Sequence[JobRow]) -> tuple[JobGroup, ...]:
    """Group the jobs by what a person can do about them; a try that was followed by another is an earlier one."""
    newest = {row.work_item or row.id: row.id for row in sorted(rows, key=lambda row: row.number)}
    last = set(newest.values())
    found: dict[Group, list[JobShown]] = {}
    for job in shown:
        found.setdefault(_group(job, last=job.id in last), []).append(job)
    return tuple(
        JobGroup(id=group, name=name, open=group in OPEN or len(rows) <= FEW, jobs=tuple(found[group]))
        for group, name in GROUPS.items()
        if group in found
    )


def _group(job: JobShown, *, last: bool) -> Group:
    if not job.over:
        return "at-work"
    if job.good:
        return "done"
    return "not-done" if last else "earlier"


def jobs_shown(
    jobs: Iterable[JobRow],
    projects: Mapping[str, ProjectRow],
    now: datetime,
    lines: Mapping[str, JobLine],
    last: Mapping[str, str],
) -> tuple[JobShown, ...]:
    """Show the jobs, running ones first, then the newest; `last` has the last thing known of each running one."""
    ordered = sorted(jobs, key=lambda job: (job.state.over, -job.number))
    shown = (job_shown(job, projects.get(job.project), now, lines.get(job.id)) for job in ordered)
    return tuple(job if job.over else job.model_copy(update={"last": last.get(job.id, "")}) for job in shown)


def job_shown(job: JobRow, project: ProjectRow | None, now: datetime, line: JobLine | None = None) -> JobShown:
    end = job.ended_at or now
    over = job.state.over
    return JobShown(
        id=job.id,
        number=job.number,
        title=clean(job.title, 200),
        project=clean(project.name, 63) if project else "a project",
        stage=job.stage.value,
        state=spaced(job.state.value),
        agent=clean(job.agent, 60),
        over=over,
        good=job.state is JobState.DONE,
        waits=job.state is JobState.WAITING and job.stage is Stage.APPROVE,
        started_at=job.started_at,
        took=minutes_in_words(end - job.started_at) if job.started_at else "not begun",
        why=clean(job.why, 400),
        line=line or job_line(job, now),
        steps=_steps(job),
        walls=walls_of(job),
    )


def _steps(job: JobRow) -> tuple[JobStation, ...]:
    stage = Stage.VERIFY if job.stage is Stage.REPAIR else job.stage
    here = STEPS.index(stage)
    all_done = job.state is JobState.DONE

    def state(place: int) -> str:
        if all_done or place < here:
            return "done"
        return "now" if place == here else "later"

    return tuple(JobStation(name=one.value, state=state(place)) for place, one in enumerate(STEPS))


def last_line(event: Event, names: Names) -> str:
    """Say what a job did last, without its name: it is written beside it."""
    if isinstance(event, ToolCallDecided) and event.verdict == "allow":
        return clean(f"{event.tool}: {event.shown}")
    name = names.of(str(getattr(event, "job", "")), "the job")
    said = describe(event, names)
    own = said[len(name) :].lstrip(": ") if said.lower().startswith(name.lower()) else said
    return clean(own[:1].upper() + own[1:])
