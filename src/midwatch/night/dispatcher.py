"""Carrying out queued work, whatever it is. The step is one of the three places where errors are caught."""

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
from midwatch.night.jobs import attempt, planning
from midwatch.night.notify import outbox
from midwatch.night.recovery import cleanup, waits
from midwatch.ports.journal import Journal
from midwatch.ports.preflight import PreflightRunner
from midwatch.terms.jobs import Stage
from midwatch.terms.records import SessionRow

log = logging.getLogger("midwatch.work")
Args = dict[str, JsonValue]
PAUSES = (0.2, 1.0, 5.0, 15.0)
"""Real seconds between tries at work that an outside trouble broke."""
Morning = Callable[[Journal, str], Awaitable[None]]


class CausedJournal:
    """Passes everything on, naming one entry as the cause of whatever has no cause of its own."""

    def __init__(self, journal: Journal, cause: int) -> None:
        self._journal = journal
        self._cause = cause

    async def record(
        self, *events: Event, key: str = "", actor: str = "midwatch", because: Iterable[int] = ()
    ) -> tuple[Entry, ...]:
        """Record with the cause."""
        return await self._journal.record(*events, key=key, actor=actor, because=tuple(because) or (self._cause,))

    async def known(self, key: str) -> Entry | None:
        """Pass on."""
        return await self._journal.known(key)

    async def entries(self, *, after: int = 0, limit: int = 1000, kinds: tuple[str, ...] = ()) -> tuple[Entry, ...]:
        """Pass on."""
        return await self._journal.entries(after=after, limit=limit, kinds=kinds)

    def tail(self, *, after: int) -> AsyncIterator[Entry]:
        """Pass on."""
        return self._journal.tail(after=after)


class Performer:
    """Knows who does which work. Every piece may come twice and is harmless the second time."""

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
        """Let what is nearly done get done, for a moment; long work is cut off and taken up at the next start."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._at_rest.wait()

    def leave(self) -> None:
        """The server is going: from now on nothing fails, it only stays undone for the next start."""
        self._leaving = True

    def left(self) -> None:
        """The engine is gone: nobody is there to be told that something was cut off."""
        self._left.set()

    async def perform(self, name: str, args: Args, seq: int) -> None:
        """Carry out the work that entry `seq` asked for; what it records names that entry as its cause."""
        self._under_way += 1
        self._at_rest.clear()
        try:
            await self._carried_out(name, args, seq)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._at_rest.set()

    async def _carried_out(self, name: str, args: Args, seq: int) -> None:
        caused = replace(self._night, journal=CausedJournal(self._night.journal, seq))
        words = {key: str(value) for key, value in args.items()}
        for pause in (*PAUSES, None):
            try:
                return await self._perform(caused, name, words)
            except Exception as error:
                if self._leaving:
                    # What the closing house broke is not broken. Unfinished, the engine takes it up again at the next
                    # start; so wait until it cannot hear us any more, then go.
                    await self._left.wait()
                    raise asyncio.CancelledError from error
                log.warning("%s %s: %s", name, args, error, exc_info=error)
                if pause is None or isinstance(error, (MidwatchError, attempt.StageBroke)):
                    return await self._mend(name, words, error)
            await asyncio.sleep(pause)  # a locked or full database, a lost connection: it may pass
        return None

    async def _perform(self, night: Night, name: str, args: dict[str, str]) -> None:
        match name:
            case "round":
                await flow.run_round(night, args["session"], int(args["number"]))
            case "stage" | "wake" | "halt" | "ask":
                await self._job(night, name, args)
            case "settle":
                await settlement.settle(night, args["ask"])
            case "tell" | "push":
                await outbox.carry_out(night, **args)
            case "preflight":
                await self._evening.look(night.journal, args["preflight"])
            case _:
                (subject,) = args.values()
                await self._mornings[name](night.journal, subject)
                if name == "close":
                    await sibling_updates.retell(night, subject)

    async def _job(self, night: Night, name: str, args: dict[str, str]) -> None:
        if name == "stage":
            await attempt.attempt_stage(night, args["job"], Stage(args["stage"]), int(args["attempt"]))
        elif name == "wake":
            await waits.wake(night.journal, night.records, args["job"], by="the patrol, because nothing else did")
        elif name == "ask":
            await planning.ask_anew(night, args["job"])
        else:
            await attempt.halt(night, args["job"])

    async def _mend(self, name: str, args: dict[str, str], error: Exception) -> None:
        """Leave nothing hanging: a round that broke ends, a stage that broke fails its job, a stack is given up."""
        if isinstance(error, attempt.StageBroke):
            await attempt.give_up(self._night, error)
        if name == "preflight":
            await self._evening.give_up(self._night.journal, args["preflight"], str(error))
        if name == "stack":
            await cleanup.give_up_stack(self._night.journal, self._night.records, args["stack"], str(error))
        if name == "round":
            session = await self._night.records.get(SessionRow, args["session"])
            if session.round_active and session.rounds == int(args["number"]):
                ended = RoundEnded(
                    session=session.id,
                    number=session.rounds,
                    next_at=self._night.clock.now() + flow.interval(self._night),
                    error=str(error),
                )
                await self._night.journal.record(ended)
