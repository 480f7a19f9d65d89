"""Finds work that should have followed long ago and did not, logs it, and carries it out."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial

from pydantic import JsonValue

from midwatch.errors import Stale
from midwatch.journal.follows import QueuedWork
from midwatch.night.context import Outside, Workspace
from midwatch.night.delivery.sibling_updates import catch_up
from midwatch.night.jobs import places
from midwatch.night.recovery import waits
from midwatch.night.recovery.cleanup import collect_checkouts, end_orphans
from midwatch.night.recovery.duties import Duties, Each, T
from midwatch.night.recovery.stuck_jobs import Watched
from midwatch.night.rounds import alarms
from midwatch.night.rounds.world import look
from midwatch.ports.books import Books
from midwatch.ports.clock import Clock
from midwatch.ports.journal import Records
from midwatch.rules.recovery.liveness import PLACE
from midwatch.rules.recovery.recovery import Cause
from midwatch.terms.asks import AskKind, AskState, Tier
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.projects import SessionState
from midwatch.terms.records import AskRow, JobRow, NoticeRow, ReportRow, RoundRow, RunRow, SessionRow

log = logging.getLogger("midwatch.liveness")
OVERDUE = timedelta(minutes=2)
"""Work that follows an entry is queued with it and takes seconds; after this time it was lost."""
LONG_ROUND = timedelta(minutes=15)
WAITED_FOR = (AskKind.APPROVE_PLAN, AskKind.GUIDANCE_ERROR, AskKind.SPEND)
EVERY_SECONDS = 60.0
TIDY_EVERY = timedelta(hours=1)
"""The time between two cleanups; the first is immediate."""


async def overdue(clock: Clock, records: Records) -> tuple[QueuedWork, ...]:
    """Find work that should have been carried out and was not. Normally there is none."""
    late = clock.now() - OVERDUE
    found: list[QueuedWork] = []
    for question in (_unsettled, _unclosed, _untold, _unsent, _unfinished):
        found += await question(records, late)
    return tuple(found)


async def _unsettled(records: Records, late: datetime) -> list[QueuedWork]:
    """Find answered asks whose jobs still wait, and stopped jobs that were never ended."""
    # A job that waits for a time has a timer, and one that waits for a place is woken when one is free.
    held = [job for job in await records.find(JobRow, state=JobState.WAITING) if job.wakes_at is None]
    waiting = tuple(job.id for job in held if job.cause != PLACE)
    about = await records.find(AskRow, subject=waiting, kind=WAITED_FOR) if waiting else ()
    newest = {ask.subject: ask for ask in about}
    asks = [ask for ask in newest.values() if ask.state in {AskState.ANSWERED, AskState.EXPIRED}]
    stopping = await records.find(JobRow, state=JobState.STOPPING)
    stopped = [job for job in stopping if job.stage is Stage.APPROVE or job.waits_for]
    return [
        *(QueuedWork("settle", {"ask": ask.id}) for ask in asks if _before(ask.settled_at, late)),
        *(QueuedWork("halt", {"job": job.id}) for job in stopped),
    ]


async def _unclosed(records: Records, late: datetime) -> list[QueuedWork]:
    """Find finished jobs whose run is still open, though none of its parts is running or to come."""
    runs = {run.id: run for run in await records.find(RunRow, status="running")}
    jobs = await records.find(JobRow, run=tuple(runs)) if runs else ()
    for run in runs.values():
        mine = [job for job in jobs if job.run == run.id]
        if len(mine) < len(run.contract.parts) or not all(job.state.over for job in mine):
            jobs = tuple(job for job in jobs if job.run != run.id)
    return [QueuedWork("close", {"job": job.id}) for job in jobs if _before(job.ended_at, late)]


async def _untold(records: Records, late: datetime) -> list[QueuedWork]:
    """Find nights that are over and have no brief."""
    over = await records.find(SessionRow, state=(SessionState.DEBRIEF, SessionState.ENDED))
    result = {report.session for report in await records.find(ReportRow)}
    lost = [one for one in over if _before(one.debrief_at, late) and one.id not in result]
    return [QueuedWork("debrief", {"session": session.id}) for session in lost]


async def _unsent(records: Records, late: datetime) -> list[QueuedWork]:
    """Find notices that no channel accepted."""
    notices = await records.find(NoticeRow, sent_by="")
    return [QueuedWork("tell", {"notice": one.id}) for one in notices if one.tier < Tier.LOG and one.created_at < late]


async def _unfinished(records: Records, late: datetime) -> list[QueuedWork]:
    """Find rounds that began long ago and never ended."""
    active = await records.find(SessionRow, state=SessionState.AUTONOMOUS, round_active=True)
    names = tuple(f"{session.id}.{session.rounds}" for session in active)
    rounds = await records.find(RoundRow, id=names) if names else ()
    return [
        QueuedWork("round", {"session": one.session, "number": one.number})
        for one in rounds
        if one.created_at < late - LONG_ROUND
    ]


def _before(at: datetime | None, late: datetime) -> bool:
    return at is not None and at < late


async def credentials_forgotten(books: Books, each: Each[str]) -> None:
    """Ask again about credentials that jobs wait for and no ask is open about."""
    waiting = await books.records.find(JobRow, state=JobState.WAITING, cause=Cause.AUTH.value)
    await each({job.session for job in waiting}, partial(waits.ask_again, books))


async def watch_commands(books: Books, each: Each[str]) -> None:
    """Raise the alarms of a person's own commands: they have no rounds in which a night raises its own."""
    running = await books.records.find(SessionRow, state=SessionState.AUTONOMOUS, ad_hoc=True)
    commands = {session.id: session for session in running}

    async def watch(name: str) -> None:
        if events := await alarms.alarms(books.ids, books.records, await look(books, commands[name])):
            with contextlib.suppress(Stale):  # it ended in the same moment
                await books.journal.record(*events)

    await each(commands, watch)


class Patrol:
    """Looks for lost work once a minute; each of its duties fails for itself."""

    def __init__(
        self,
        books: Books,
        workspace: Workspace,
        outside: Outside,
        perform: Callable[[str, dict[str, JsonValue], int], Awaitable[None]],
        duties: Duties,
    ) -> None:
        self._books = books
        self._workspace = workspace
        self._outside = outside
        self._perform = perform
        self._duties = duties
        self._watched = Watched(books, workspace.wake_ups)

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self.once()
            await self.tidy()
            await asyncio.sleep(EVERY_SECONDS)

    async def once(self) -> int:
        """Carry out all overdue work; return how much there was."""
        books, do = self._books, self._duties.carry_out
        await self._one_by_one("Ending lost processes", partial(end_orphans, books, self._workspace.rooms))
        await self._one_by_one("Asking again about credentials", partial(credentials_forgotten, books))
        await do("Handing out places to waiting jobs", lambda: places.hand_out(books))
        await self._one_by_one("Watching commands for alarms", partial(watch_commands, books))
        lost = await do("Finding lost work", lambda: overdue(books.clock, books.records)) or ()
        stranded = await do("Finding abandoned jobs", self._watched.stranded) or ()
        each: Each[QueuedWork] = self._duties.each_of("Carrying out lost work")
        return await each((*lost, *stranded), self._done_now)

    async def _one_by_one(self, duty: str, work: Callable[[Each[T]], Awaitable[object]]) -> None:
        """Carry out a duty with many items, of which each that fails is paused alone; finding them may fail as well."""
        await self._duties.carry_out(duty, lambda: work(self._duties.each_of(duty)))

    async def tidy(self) -> None:
        """Clean up, and update what could not be updated earlier, where that is due."""
        books, do = self._books, self._duties.carry_out
        await do("Removing old checkouts", lambda: collect_checkouts(books, self._workspace.upkeep), TIDY_EVERY)
        await do("Updating linked pull requests", lambda: catch_up(books, self._outside), TIDY_EVERY)

    async def _done_now(self, work: QueuedWork) -> None:
        log.warning("overdue, done now: %s %s", work.name, work.args)
        await self._perform(work.name, dict(work.args), await self._books.records.head())
