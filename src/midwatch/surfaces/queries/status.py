"""The status in one object: the night, the running jobs, what waits for a person, what is left."""

from midwatch.compose.read_side import ReadSide
from midwatch.rules.morning.tally import held_back, tally
from midwatch.surfaces.queries.asks import AskDetails, ask_details
from midwatch.surfaces.queries.job_lines import lines_of
from midwatch.surfaces.queries.names import project_names
from midwatch.surfaces.queries.reads import ReadTable
from midwatch.terms.asks import AskState
from midwatch.terms.figures import dollars, many, micros
from midwatch.terms.jobs import JobState
from midwatch.terms.orders import Limits
from midwatch.terms.projects import SessionState
from midwatch.terms.records import (
    ActRow,
    AskRow,
    FuelRow,
    JobRow,
    PastAct,
    ProjectRow,
    PullRequestRow,
    ReportRow,
    SessionRow,
)
from midwatch.terms.term import Term
from midwatch.views.pages.job_line import JobLine, Spent, spent_by
from midwatch.views.text.progress import progress
from midwatch.views.text.quota import Fuel, fuel_shown

READS = ReadTable()
ACTIVE = tuple(state for state in JobState if not state.over)


class NightNow(Term):
    """The newest night: its progress and what it has spent."""

    id: str
    number: int
    state: str
    paused: bool
    why_paused: str
    level: str
    goals: tuple[str, ...]
    rounds: int
    max_rounds: int
    decisions: int
    actions: int
    minutes: float
    max_minutes: int
    usd_micros: int
    max_usd: float
    tokens: int
    max_tokens: int
    spent: str
    ends_at: str | None
    next_round_at: str | None
    reason: str
    progress: str
    waits_for: str
    """Why nothing is at work while time alone holds the next act back."""
    """How much of what was ordered is done."""


class JobNow(Term):
    """A job that is not over."""

    id: str
    number: int
    project_name: str
    title: str
    state: str
    stage: str
    agent: str
    isolation: str
    line: JobLine


class PullRequestNow(Term):
    """An open pull request."""

    number: int
    job_number: int
    project_name: str
    title: str
    branch: str


class StatusNow(Term):
    """The status in one object."""

    now: str
    pages: str
    port_taken: int
    """The port that the pages should have had, if another program has it; else 0."""
    seq: int
    projects: int
    night: NightNow | None
    jobs: tuple[JobNow, ...]
    asks: tuple[AskDetails, ...]
    pull_requests: tuple[PullRequestNow, ...]
    fuel: tuple[Fuel, ...]
    headline: str
    troubles: tuple[str, ...]
    """Duties of the server that fail again and again, and lent folders that no job gets, each with its reason."""


@READS.at("/status")
async def status(house: ReadSide) -> StatusNow:
    """Return the status in one object."""
    await house.look_here()
    records = house.records
    sessions = await records.find(SessionRow, ad_hoc=False)
    last = sessions[-1] if sessions else None
    running = await records.find(JobRow, state=ACTIVE)
    reports = await records.find(ReportRow, session=last.id) if last else ()
    opened = await records.find(PullRequestRow, state="open")
    numbers = {job.id: job.number for job in await records.find(JobRow, id=tuple(pr.job for pr in opened))}
    lines, names = await lines_of(house, running), await project_names(house)
    return StatusNow(
        now=house.clock.now().isoformat(),
        pages=house.pages,
        port_taken=house.port_taken,
        seq=await records.head(),
        projects=len(await records.find(ProjectRow, removed=False)),
        night=await _night(house, last) if last else None,
        jobs=tuple(_job(job, names[job.project], lines[job.id]) for job in running),
        asks=tuple([await ask_details(house, ask) for ask in await records.find(AskRow, state=AskState.OPEN)]),
        pull_requests=tuple(
            PullRequestNow(
                number=pr.number,
                job_number=numbers[pr.job],
                project_name=names[pr.project],
                title=pr.title,
                branch=pr.branch,
            )
            for pr in opened
        ),
        fuel=fuel_shown(await records.find(FuelRow), house.clock.now()),
        headline=reports[-1].brief.headline if reports else "",
        troubles=house.troubles(),
    )


async def _night(house: ReadSide, session: SessionRow) -> NightNow:
    began = session.started_at
    jobs = await house.records.find(JobRow, session=session.id)
    limits, spent = session.orders.limits, spent_by(jobs)
    acts = await house.records.find(PastAct, session=session.id)
    counted = tally(session.works(), jobs, acts)
    waits = held_back(jobs, acts) if session.state is SessionState.AUTONOMOUS and not session.paused else None
    ended = session.debrief_at or session.ended_at or house.clock.now()
    return NightNow(
        id=session.id,
        number=session.number,
        state=session.state.value,
        paused=session.paused,
        why_paused=session.why_paused,
        level=session.level.value,
        goals=session.orders.goals,
        rounds=session.rounds,
        max_rounds=limits.rounds,
        decisions=session.decisions,
        actions=session.actions,
        minutes=round((ended - began).total_seconds() / 60, 1) if began else 0,
        max_minutes=limits.minutes,
        usd_micros=spent.usd_micros,
        max_usd=limits.usd,
        tokens=spent.tokens,
        max_tokens=limits.tokens,
        spent=_spent(spent, limits),
        ends_at=session.ends_at.isoformat() if session.ends_at else None,
        next_round_at=session.next_round_at.isoformat() if session.next_round_at else None,
        reason=session.reason,
        progress=progress(counted, over=session.debrief_at is not None),
        waits_for=(await house.records.get(ActRow, waits.id)).text if waits else "",
    )


def _spent(spent: Spent, limits: Limits) -> str:
    money = f"{dollars(spent.usd_micros)} of {dollars(micros(limits.usd))}"
    return f"{money}, {many(spent.tokens)} of {many(limits.tokens)} tokens"


def _job(job: JobRow, project: str, line: JobLine) -> JobNow:
    return JobNow(
        id=job.id,
        number=job.number,
        project_name=project,
        title=job.title,
        state=job.state.value,
        stage=job.stage.value,
        agent=job.agent,
        isolation=job.isolation.value if job.worker else "",
        line=line,
    )
