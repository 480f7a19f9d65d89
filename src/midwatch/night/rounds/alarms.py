"""What a person must hear of at once: the machine runs short, its sandbox got weaker, a job's budget is nearly used."""

from collections.abc import Iterator
from dataclasses import dataclass

from midwatch.journal.events import Event
from midwatch.journal.events.session import CheckInMade
from midwatch.night.notify.notice import cut, notice
from midwatch.night.rounds.world import World
from midwatch.ports.clock import Ids
from midwatch.ports.journal import Records
from midwatch.rules.gate.contract import part_of
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.settings import gate_limits
from midwatch.terms.contract import Constraints
from midwatch.terms.facts import Budget
from midwatch.terms.figures import dollars, many, size
from midwatch.terms.records import CheckInRow, JobRow, RunRow
from midwatch.terms.trust import Isolation


@dataclass(frozen=True, slots=True)
class Alarm:
    """One thing to say, once a night: `trigger` is what it is known by."""

    kind: NoticeKind
    trigger: str
    text: str


async def alarms(ids: Ids, records: Records, world: World) -> tuple[Event, ...]:
    """Raise what has not been raised this night, each as a check-in with its notice."""
    session = world.session
    known = {row.trigger for row in await records.find(CheckInRow, session=session.id, type="alert")}
    found = [*_machine(world), *await _jobs(records, world)]
    events: list[Event] = []
    for one in found:
        if one.trigger not in known:
            events += [
                CheckInMade(session=session.id, type="alert", trigger=one.trigger, text=one.text),
                notice(ids, session.id, tier_of(one.kind), cut(one.text), subject=session.id),
            ]
    return tuple(events)


def _machine(world: World) -> Iterator[Alarm]:
    least = gate_limits(world.settings)
    if world.free_memory < least.free_memory_bytes:
        yield _short("memory", world.free_memory, least.free_memory_bytes)
    if world.free_disk < least.free_disk_bytes:
        yield _short("disk space", world.free_disk, least.free_disk_bytes)
    walls = list(Isolation)
    before = max((job.isolation for job in world.jobs), key=walls.index, default=world.isolation)
    if walls.index(world.isolation) < walls.index(before):
        text = (
            f"The sandbox of this machine is weaker than when the {world.session.noun} began: "
            f"{world.isolation} instead of {before}. Model-driven agents get less permission from now on."
        )
        yield Alarm(NoticeKind.LOST_ISOLATION, f"isolation is {world.isolation}", text)


def _short(what: str, free: int, least: int) -> Alarm:
    text = (
        f"This machine is short of {what}: {size(free)} free, and a new job needs {size(least)}. "
        "Running jobs continue; no new one starts."
    )
    return Alarm(NoticeKind.LOW_RESOURCES, f"low {what}", text)


async def _jobs(records: Records, world: World) -> list[Alarm]:
    """Find the jobs of this night that have used most of a budget of their own."""
    mine = [job for job in world.jobs if not job.state.over]
    runs = {run.id: run for run in await records.find(RunRow, id=tuple(job.run for job in mine))} if mine else {}
    percent, night = world.settings.limits.alert_percent, world.budgets()
    of_night = {"money": night.usd_micros.limit, "tokens": night.tokens.limit, "time": night.seconds.limit}
    found: list[Alarm] = []
    for job in mine:
        for what, (budget, said) in _budgets(world, job, part_of(runs[job.run].contract, job.project).constraints):
            own = budget.limit and budget.limit < (of_night[what] or 0)  # else the night's alert says the same
            if own and budget.taken * 100 >= percent * (budget.limit or 0):
                trigger = f"{percent} % of the {what} of job {job.number}"
                text = f"Job {job.number} ({job.title}) has used {percent} % of its {what}: {said}."
                found.append(Alarm(NoticeKind.CHECK_IN_ALERT, trigger, text))
    return found


def _budgets(world: World, job: JobRow, most: Constraints) -> Iterator[tuple[str, tuple[Budget, str]]]:
    """Give what a job has used of its money, tokens and time, each in words."""
    usd = Budget(spent=job.usd_micros, limit=most.max_usd_micros + job.granted_usd_micros)
    yield "money", (usd, f"{dollars(usd.spent)} of {dollars(usd.limit or 0)}")
    tokens = Budget(spent=job.tokens, limit=most.max_tokens + job.granted_tokens)
    yield "tokens", (tokens, f"{many(tokens.spent)} of {many(tokens.limit or 0)}")
    now = int((world.now - job.agent_began_at).total_seconds()) if job.agent_began_at else 0
    time = Budget(spent=job.ran_seconds + now, limit=most.max_runtime_minutes * 60)
    yield "time", (time, f"{time.spent // 60} of {most.max_runtime_minutes} minutes")
