"""Runs a preflight: tries each thing the night will need, and records each result at once and only once."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from midwatch.errors import MidwatchError, Stale
from midwatch.journal.events.preflight import PreflightChecked, PreflightEnded
from midwatch.ports.books import Books
from midwatch.ports.machine import ExaminedMachine
from midwatch.ports.preflight import Contacts, ProjectTrials
from midwatch.rules.checks.setups import SetupChoice
from midwatch.rules.people import preflight as judge
from midwatch.settings import gate_limits
from midwatch.settings.zone import local_time
from midwatch.terms.preflight import THIS_MACHINE, LineResult, LineState, PreflightState, ProjectTried, What
from midwatch.terms.records import PreflightLineRow, PreflightRow
from midwatch.views.text.plain import clean

SHORT: Final = 45.0
"""Real seconds a hello or a ping may take."""
MARGIN: Final = 30.0
"""Real seconds for stopping a command that ran out of time."""
LONGEST: Final = 600
Find = Callable[[], Awaitable[LineResult]]


@dataclass(frozen=True, slots=True)
class Lookout:
    """What a preflight needs."""

    books: Books
    trials: ProjectTrials
    reach: Contacts
    machine: ExaminedMachine


class Over(Exception):
    """This preflight was ended or replaced."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One run of a preflight, with the lines recorded so far."""

    out: Lookout
    row: PreflightRow
    done: dict[tuple[What, str], PreflightLineRow]

    async def line(self, what: What, subject: str, find: Find, *, seconds: float = 0.0, late: str = "") -> LineState:
        """Try one thing within its time, and record the result; a line recorded before a crash is kept."""
        if known := self.done.get((what, subject)):
            return known.state
        begun, seconds = time.monotonic(), seconds or SHORT
        try:
            async with asyncio.timeout(seconds):
                result = await find()
        except TimeoutError:
            result = (
                judge.look(late, judge.GIVE_LONGER, judge.LONGER)
                if late
                else judge.bad(f"No answer came within {seconds:g} seconds.", "Try it again.")
            )
        except MidwatchError as error:
            result = judge.bad(error.message, error.hint, error.settings)
        await self.tell(what, subject, result, spent=time.monotonic() - begun)
        return result.state

    async def tell(self, what: What, subject: str, result: LineResult, *, spent: float = 0.0, commit: str = "") -> None:
        """Record a line, once."""
        if (what, subject) in self.done:
            return
        event = PreflightChecked(
            preflight=self.row.id,
            what=what,
            subject=subject,
            state=result.state,
            text=clean(result.text, LONGEST),
            fix=clean(result.fix, LONGEST),
            seconds=round(spent, 1),
            commit=commit,
            settings=result.settings,
        )
        try:
            await self.out.books.journal.record(event, key=judge.line_key(self.row.id, what, subject))
        except Stale as gone:
            raise Over from gone

    @property
    def listed(self) -> tuple[str, ...]:
        """What setups may reach."""
        return self.out.books.settings().sandbox.setup_domains

    @property
    def minutes(self) -> float:
        """How long one line about a project may take."""
        return self.out.books.settings().preflight.max_minutes


async def look(out: Lookout, preflight: str) -> None:
    """Run a preflight, or resume it; projects one after another, everything else in parallel."""
    row = await out.books.records.get(PreflightRow, preflight)
    if row.state is not PreflightState.RUNNING:
        return
    lines = await out.books.records.find(PreflightLineRow, preflight=preflight)
    turn = Turn(out, row, {(one.what, one.subject): one for one in lines})
    try:
        await _everything(turn)
        with contextlib.suppress(Stale):
            await out.books.journal.record(PreflightEnded(preflight=preflight), key=f"{preflight}:ended")
    except ExceptionGroup as group:
        _, broken = group.split(Over)
        if broken is not None:
            raise broken.exceptions[0] from group
    await out.trials.clear_up(preflight)


async def _everything(turn: Turn) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(_projects(turn))
        group.create_task(_machine(turn))
        for agent in turn.row.plan.agents:
            group.create_task(_agent(turn, agent))
        for channel in turn.row.plan.channels:
            group.create_task(_channel(turn, channel))


async def give_up(out: Lookout, preflight: str, error: str) -> None:
    """End a preflight that cannot continue; its recorded lines stay."""
    with contextlib.suppress(Stale):
        ended = PreflightEnded(preflight=preflight, error=clean(error, LONGEST))
        await out.books.journal.record(ended, key=f"{preflight}:ended")
    await out.trials.clear_up(preflight)


async def _projects(turn: Turn) -> None:
    for project in turn.row.plan.projects:
        await _project(turn, project)


async def _project(turn: Turn, project: ProjectTried) -> None:
    """Do what a job will do: clone, set up, check, deliver. A step whose prerequisite failed is not tried."""
    commit = await _clone(turn, project)
    if not commit:
        return
    choice = await turn.out.trials.setup_choice(project, commit)
    key = await _setup(turn, project, commit, choice)
    if key is not None:
        await _checks(turn, project, commit, key, choice)
    seconds = turn.minutes * 60

    async def pushed() -> LineResult:
        return judge.push_text(await turn.out.trials.rehearse(project))

    await turn.line(What.PUSH, project.name, pushed, seconds=seconds)


async def _clone(turn: Turn, project: ProjectTried) -> str:
    if known := turn.done.get((What.CLONE, project.name)):
        return known.commit
    begun, seconds, commit = time.monotonic(), turn.minutes * 60, ""
    try:
        async with asyncio.timeout(seconds):
            facts = await turn.out.trials.clone(project)
        result, commit = judge.clone_text(facts), facts.head
    except TimeoutError:
        result = judge.bad(f"It was not cloned within {turn.minutes:g} min.", "Clone it once yourself, then try again.")
    except MidwatchError as error:
        result = judge.bad(error.message, error.hint)
    await turn.tell(What.CLONE, project.name, result, spent=time.monotonic() - begun, commit=commit)
    return commit


async def _setup(turn: Turn, project: ProjectTried, commit: str, choice: SetupChoice) -> str | None:
    """Return the setup's fingerprint; None if the checks cannot use it."""
    held = await _held_back(turn, project, commit, choice)
    if not choice.command:
        if held is not None:
            await turn.tell(What.SETUP, project.name, held)
        return ""
    made: list[str] = []
    night, mine = turn.out.books.settings().sandbox.setup_minutes, turn.minutes
    wall = timedelta(minutes=min(night, mine))

    async def ready() -> LineResult:
        begun = time.monotonic()
        try:
            key, reused = await turn.out.trials.set_up(turn.row.id, project, commit, choice.command, wall)
        except MidwatchError:
            if mine < night and time.monotonic() - begun >= wall.total_seconds():
                text = f"It did not finish in {mine:g} min; at night it may take {night:g} min."
                return judge.look(text, judge.GIVE_LONGER, judge.LONGER)
            raise
        made.append(key)
        took = None if reused else time.monotonic() - begun
        return judge.both(judge.ok(judge.ran_text(choice.command, choice, took)), held)

    if turn.done.get((What.SETUP, project.name)) is not None:
        # Recorded before a crash: find its result again; if it failed, nothing depends on it.
        with contextlib.suppress(MidwatchError):
            await ready()
    else:
        await turn.line(What.SETUP, project.name, ready, seconds=wall.total_seconds() + MARGIN)
    return made[0] if made else None


async def _held_back(turn: Turn, project: ProjectTried, commit: str, choice: SetupChoice) -> LineResult | None:
    """Say which lockfiles ask for a setup that is not run, and which of their tools a job would not find."""
    if not choice.held or (What.SETUP, project.name) in turn.done:
        return None
    tools = tuple(dict.fromkeys(one.tool for one in choice.held))
    missing = await turn.out.trials.missing_programs(turn.row.id, project, commit, tools)
    return judge.setup_text(choice, project.name, missing)


async def _checks(turn: Turn, project: ProjectTried, commit: str, key: str, choice: SetupChoice) -> None:
    wall = timedelta(minutes=turn.minutes)

    async def checked() -> LineResult:
        results = await turn.out.trials.check(turn.row.id, project, commit, key, wall)
        if not results:
            fix = f'midwatch project change {project.name} --check "python -m pytest -q"'
            return judge.look("It has no checks, so nothing proves its work.", fix)
        return judge.checks_text(results, project, turn.minutes, choice.found, turn.listed)

    late = f"The checks did not finish in {turn.minutes:g} min, so it is unknown whether {project.branch} is green."
    await turn.line(What.CHECKS, project.name, checked, seconds=wall.total_seconds() + MARGIN, late=late)


async def _agent(turn: Turn, name: str) -> None:
    """Say hello once; what is left of its limits comes with the answer."""
    if (What.HELLO, name) in turn.done:
        return
    books, plan = turn.out.books, turn.row.plan
    now = books.clock.now()

    async def greeted() -> LineResult:
        seen = await turn.out.reach.greet(name)
        left = judge.quota_text(seen, plan.limits, local_time(books.settings(), now))
        if left is not None:
            await turn.tell(What.QUOTA, name, left)
        machine = turn.out.machine
        no_way = judge.way_text(seen, machine.isolation(), machine.walls()[1])
        return no_way or judge.hello_text(seen, now + timedelta(minutes=plan.limits.minutes))

    late = f"Its program did not answer in {turn.minutes:g} min, so it is unknown whether it can work."
    await turn.line(What.HELLO, name, greeted, seconds=SHORT + turn.minutes * 60 + MARGIN, late=late)


async def _channel(turn: Turn, name: str) -> None:
    """Send one quiet message; a channel that already got one for this night gets no other."""

    async def pinged() -> LineResult:
        if await _took_one(turn, name):
            return judge.ok("It received a message earlier this evening.")
        await turn.out.reach.ping(name)
        return judge.ok("Sent one message. Check that it arrived.")

    await turn.line(What.PING, name, pinged)


async def _took_one(turn: Turn, channel: str) -> bool:
    records = turn.out.books.records
    earlier = tuple(row.id for row in await records.find(PreflightRow, session=turn.row.session))
    lines = await records.find(PreflightLineRow, preflight=earlier, what=What.PING, subject=channel)
    return any(one.state is LineState.OK for one in lines)


async def _machine(turn: Turn) -> None:
    machine, settings = turn.out.machine, turn.out.books.settings()
    plan, limits = turn.row.plan, gate_limits(settings)

    async def walls() -> LineResult:
        why, fix = machine.walls()
        forced = settings.gate.unisolated_agents
        return judge.walls_text(plan.level, machine.isolation(), plan.agents, forced=forced, why=why, fix=fix)

    async def room() -> LineResult:
        free = (machine.free_memory(), machine.free_disk())
        return judge.room_text(free, (limits.free_memory_bytes, limits.free_disk_bytes))

    async def sleep() -> LineResult:
        return judge.sleep_text(await asyncio.to_thread(machine.sleep))

    await turn.line(What.WALLS, THIS_MACHINE, walls)
    await turn.line(What.ROOM, THIS_MACHINE, room)
    await turn.line(What.SLEEP, THIS_MACHINE, sleep)
