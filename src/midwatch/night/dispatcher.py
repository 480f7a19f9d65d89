"""Carries out queued work of every kind. The step is one of the three places where errors are caught."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import replace

from pydantic import JsonValue

from midwatch.errors import MidwatchError
from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events.session import RoundEnded
from midwatch.night import flow
from midwatch.night.asks import settlement
from midwatch.night.context import Night
from midwatch.night.delivery import sibling_updates
from midwatch.night.jobs import attempt, places, planning
from midwatch.night.notify import outbox
from midwatch.night.recovery import cleanup, waits
from midwatch.night.rounds import acts
from midwatch.ports.books import Books
from midwatch.ports.journal import Journal
from midwatch.ports.preflight import PreflightRunner
from midwatch.terms.jobs import Stage
from midwatch.terms.records import SessionRow

log = logging.getLogger("midwatch.work")
Args = dict[str, JsonValue]
WORK_RETRY_SECONDS = (0.2, 1.0, 5.0, 15.0)
"""Real seconds between tries after an error outside Midwatch's own code."""
Morning = Callable[[Books, str], Awaitable[None]]


class CausedJournal:
    """Passes every call on, and names one entry as the cause of events that have no cause of their own."""

    def __init__(self, journal: Journal, cause: int) -> None:
        self._journal = journal
        self._cause = cause

    async def record(
        self, *events: Event, key: str = "", actor: str = "midwatch", because: Iterable[int] = ()
    ) -> tuple[Entry, ...]:
        return await self._journal.record(*events, key=key, actor=actor, because=tuple(because) or (self._cause,))

    async def known(self, key: str) -> Entry | None:
        return await self._journal.known(key)

    async def entries(self, *, after: int = 0, limit: int = 1000, kinds: tuple[str, ...] = ()) -> tuple[Entry, ...]:
        return await self._journal.entries(after=after, limit=limit, kinds=kinds)

    def tail(self, *, after: int) -> AsyncIterator[Entry]:
        return self._journal.tail(after=after)


class Performer:
    """Knows which function does which work. Each piece of work may be run twice; the second run changes nothing."""

    def __init__(
        self, night: Night, *, close_job: Morning, debrief: Morning, stack: Morning, evening: PreflightRunner
    ) -> None:
        self._night = night
        self._evening = evening
        self._mornings = {"close": close_job, "debrief": debrief, "stack": stack}
        self._under_way = 0
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        self._leaving = False
        self._left = asyncio.Event()

    async def rest(self, seconds: float) -> None:
        """Wait a moment for work that is nearly done; longer work is cancelled and resumed at the next start."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._at_rest.wait()

    def leave(self) -> None:
        """Announce the shutdown: from now on an error does not fail the work; the next start resumes it."""
        self._leaving = True

    def left(self) -> None:
        """Report that the engine is closed: a cancellation no longer reaches it."""
        self._left.set()

    async def perform(self, name: str, args: Args, seq: int) -> None:
        """Carry out the work that entry `seq` asked for; events it records name that entry as their cause."""
        self._under_way += 1
        self._at_rest.clear()
        try:
            await self._carried_out(name, args, seq)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._at_rest.set()

    async def _carried_out(self, name: str, args: Args, seq: int) -> None:
        books = self._night.books
        caused = replace(self._night, books=replace(books, journal=CausedJournal(books.journal, seq)))
        words = {key: str(value) for key, value in args.items()}
        for pause in (*WORK_RETRY_SECONDS, None):
            try:
                return await self._perform(caused, name, words)
            except Exception as error:
                if self._leaving:
                    # An error during shutdown is not a failure of the work. The engine resumes unfinished work at the
                    # next start; so wait until the engine is closed, then cancel.
                    await self._left.wait()
                    raise asyncio.CancelledError from error
                log.warning("%s %s: %s", name, args, error, exc_info=error)
                if pause is None or isinstance(error, (MidwatchError, attempt.StageBroke)):
                    return await self._repair(name, words, error)
            await asyncio.sleep(pause)  # a locked or full database, a lost connection: it may recover
        return None

    async def _perform(self, night: Night, name: str, args: dict[str, str]) -> None:
        match name:
            case "round":
                await flow.run_round(
                    night.books, night.brain, night.workspace.rooms, args["session"], int(args["number"])
                )
            case "stage" | "wake" | "halt" | "ask":
                await self._job(night, name, args)
            case "settle":
                await settlement.settle(night.books, night.workspace.rooms, args["ask"])
            case "tell" | "push":
                await outbox.carry_out(night.books, night.outside, **args)
            case "preflight":
                await self._evening.look(night.books, args["preflight"])
            case "sign":
                await self._evening.sign(night.books, args["preflight"])
            case _:
                (subject,) = args.values()
                await self._mornings[name](night.books, subject)
                if name == "close":
                    await sibling_updates.retell(night.books, night.outside, subject)
                    await acts.restart_stopped(night.books, night.workspace.rooms, subject)
                    await places.hand_out(night.books)

    async def _job(self, night: Night, name: str, args: dict[str, str]) -> None:
        if name == "stage":
            await attempt.attempt_stage(night, args["job"], Stage(args["stage"]), int(args["attempt"]))
        elif name == "wake":
            await waits.wake(night.books.journal, night.books.records, args["job"], by="found stuck by the patrol")
        elif name == "ask":
            await planning.ask_again(night.books, night.roster.agents, args["job"])
        else:
            await attempt.halt(night.books, night.workspace.rooms, args["job"])

    async def _repair(self, name: str, args: dict[str, str], error: Exception) -> None:
        """Clean up after an error: a broken round ends, a broken stage fails its job, a broken stack is given up."""
        books = self._night.books
        if isinstance(error, attempt.StageBroke):
            await attempt.give_up(books, self._night.workspace.rooms, error)
        if name == "preflight":
            await self._evening.give_up(books, args["preflight"], str(error))
        if name == "stack":
            await cleanup.give_up_stack(books.journal, books.records, args["stack"], str(error))
        if name == "round":
            session = await books.records.get(SessionRow, args["session"])
            if session.round_active and session.rounds == int(args["number"]):
                ended = RoundEnded(
                    session=session.id,
                    number=session.rounds,
                    next_at=books.clock.now() + flow.interval(books.settings()),
                    error=str(error),
                )
                await books.journal.record(ended)
