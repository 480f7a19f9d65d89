"""What the Live page shows: the state of the night, what it used, which jobs are running."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from midwatch.journal.entry import Entry
from midwatch.terms.acts import LEVEL_MEANS
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.money import dollars, many, micros
from midwatch.terms.projects import SessionState
from midwatch.terms.records import JobRow, ProjectRow, SessionRow
from midwatch.terms.term import Term
from midwatch.views.entries.describe import describe
from midwatch.views.entries.tags import Phase, phase_of
from midwatch.views.pages.job_line import JobLine, job_line, spent_by
from midwatch.views.pages.night_picture import minutes_in_words
from midwatch.views.pages.walls import Walls, walls_of
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean, counted, spaced

FEED_ROWS: Final = 60
ALMOST: Final = 0.8
"""From this share on a limit is nearly used up."""
STEPS: Final = tuple(stage for stage in Stage if stage is not Stage.REPAIR)


class FeedRow(Term):
    """One entry as the feed shows it."""

    seq: int
    at: datetime
    phase: Phase
    text: str


class Gauge(Term):
    """One limited thing, in words and as a share of its limit; `most` 0 means there is no limit to show."""

    name: str
    said: str
    used: float = 0
    most: float = 0
    near: bool = False


class NightShown(Term):
    """The banner: which night, its state, its level."""

    number: int = 0
    title: str
    sentence: str = ""
    progress: str = ""
    """How much of what was ordered is done, in the figures of the brief."""
    paused: str = ""
    """Why it is paused, if it is."""
    level: str = ""
    level_means: str = ""
    authority: str = ""
    under_way: bool = False
    ends_at: datetime | None = None
    next_round_at: datetime | None = None
    next_page: str = ""
    next_words: str = ""


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
    steps: tuple[JobStation, ...] = ()
    walls: Walls | None = None
    """What isolates it; nothing until a worker has claimed it."""


def feed_rows(entries: Iterable[Entry], names: Names) -> tuple[FeedRow, ...]:
    """Describe entries in words, newest first; `names` already knows everything they name."""
    result = [
        FeedRow(seq=one.seq, at=one.at, phase=phase_of(one.event), text=describe(one.event, names)) for one in entries
    ]
    return tuple(reversed(result))


def night_shown(
    session: SessionRow | None, *, headline: str = "", authority: str = "", progress: str = ""
) -> NightShown:
    """Describe the newest night; when none is under way, say what to do next."""
    if session is None:
        return NightShown(
            title="No night is under way.",
            sentence="Write and sign tonight's orders, and follow the night here.",
            next_page="/tonight",
            next_words="Prepare tonight",
        )
    if session.state is SessionState.AUTONOMOUS:
        return _under_way(session, authority, progress)
    if session.state is SessionState.BRIEFING:
        return NightShown(
            title="No night is under way.",
            sentence="Orders for tonight are drafted. They begin when you sign them.",
            next_page="/tonight",
            next_words="Read and sign the orders",
        )
    waits = session.state is SessionState.DEBRIEF
    said = clean(headline, 300) or f"It ended: {clean(session.reason, 200) or 'without a reason'}."
    return NightShown(
        number=session.number,
        title=f"Night {session.number} is over.",
        sentence=said,
        next_page="/morning" if waits else "/tonight",
        next_words="Review the results" if waits else "Prepare tonight",
    )


def _under_way(session: SessionRow, authority: str, progress: str) -> NightShown:
    level = session.level.value
    state = "is paused" if session.paused else "is under way"
    goals = "; ".join(clean(goal, 120) for goal in session.orders.goals[:2])
    return NightShown(
        number=session.number,
        title=f"Night {session.number} {state}",
        sentence=goals,
        progress=progress,
        paused=_sentence(session.why_paused) if session.paused else "",
        level=level,
        level_means=LEVEL_MEANS[session.level],
        authority=spaced(authority),
        under_way=True,
        ends_at=session.ends_at,
        next_round_at=None if session.paused else session.next_round_at,
    )


def _sentence(words: str) -> str:
    said = clean(words, 300) or "No reason was given."
    return said[:1].upper() + said[1:]


def gauges(
    session: SessionRow, jobs: Iterable[JobRow], now: datetime, *, asks: int, attention: int
) -> tuple[Gauge, ...]:
    """Measure what the night and its jobs used of what was signed."""
    limits, spent = session.orders.limits, spent_by(jobs)
    granted = micros(limits.usd)
    began = session.started_at or now
    used = (session.debrief_at or session.ended_at or now) - began
    minutes = used.total_seconds() / 60
    most = round((session.ends_at - began).total_seconds() / 60) if session.ends_at else limits.minutes
    return (
        _gauge("Time", f"{_hours(int(minutes))} of {_hours(most)}", minutes, most),
        _gauge("Rounds", f"{session.rounds:,} of {limits.rounds:,}", session.rounds, limits.rounds),
        Gauge(name="Decisions", said=f"{session.decisions:,}, of which {session.actions:,} done"),
        _gauge("Money", f"{dollars(spent.usd_micros)} of {dollars(granted)}", spent.usd_micros, granted),
        _gauge("Tokens", f"{many(spent.tokens)} of {many(limits.tokens)}", spent.tokens, limits.tokens),
        _gauge("Your attention", f"{asks} of {counted(attention, 'ask')}", asks, attention),
    )


def _gauge(name: str, said: str, used: float, most: float) -> Gauge:
    return Gauge(name=name, said=said, used=min(used, most), most=most, near=most > 0 and used >= ALMOST * most)


def _hours(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{rest} min"
    return f"{hours} h {rest:02}" if rest else f"{hours} h"


def jobs_shown(
    jobs: Iterable[JobRow], projects: Mapping[str, ProjectRow], now: datetime, lines: Mapping[str, JobLine]
) -> tuple[JobShown, ...]:
    """Show the jobs, running ones first, then the newest."""
    ordered = sorted(jobs, key=lambda job: (job.state.over, -job.number))
    return tuple(job_shown(job, projects.get(job.project), now, lines.get(job.id)) for job in ordered)


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
