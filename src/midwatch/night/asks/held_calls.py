"""Holds a tool call until a person answers, the deadline passes, or the call no longer waits."""

import asyncio
import contextlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from midwatch.errors import Refused, Stale, Unknown
from midwatch.journal.entry import digest
from midwatch.journal.events.session import AskOpened, AskWithdrawn
from midwatch.night.context import WakeUps
from midwatch.night.notify.notice import cut, job_notice
from midwatch.ports.books import Books
from midwatch.ports.journal import Journal, Records
from midwatch.ports.room import Room
from midwatch.rules.people.asks import agrees, deadline_at
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.settings.zone import local_time
from midwatch.terms.asks import AskDraft, AskKind, AskState, Silence, always_option, held_question
from midwatch.terms.records import AskRow, JobRow

LOOK_SECONDS = 30.0
"""A settled ask wakes its call; a wake-up may be missed, so look at least this often."""
SLACK = timedelta(minutes=1)
"""How long after its deadline an ask's expiry may be recorded."""


@dataclass(frozen=True, slots=True)
class HeldAnswer:
    """The outcome of a question."""

    yes: bool
    text: str
    by: str = ""
    ask: str = ""


SILENT = HeldAnswer(yes=False, text="No answer in time, so it was denied.")
STOPPED = HeldAnswer(yes=False, text="The job is being stopped, so it was denied.")


class Asking:
    """Asks about the calls of one attempt; after a restart it finds the open questions again."""

    def __init__(self, books: Books, wake_ups: WakeUps, job: JobRow, room: Room) -> None:
        self._books = books
        self._wake_ups = wake_ups
        self._job = job
        self._room = room
        self._held: set[str] = set()
        """Asks that a call here waits for; an equal call at the same time opens its own ask."""

    async def refused(self, question: str) -> bool:
        """Whether a person, or a timeout, has denied exactly this call in this job."""
        settled = await self._asked(question, AskState.ANSWERED, AskState.EXPIRED)
        return any(not _agreed(row) for row in settled)

    def question(self, tool: str, exactly: str) -> str:
        """Write the question: the person sees exactly what would happen, all of it."""
        return held_question(self._job.number, tool, exactly)

    async def about(self, question: str, why: str, always: tuple[str, ...] = ()) -> HeldAnswer:
        """Ask, and hold the call, with the idle limit suspended; `always` is what the person may allow for good."""
        stop = self._wake_ups.of(self._job.id)
        if stop.is_set():
            return STOPPED
        ask, due = await self._opened(question, why, always)
        self._held.add(ask)
        left = self._books.clock.real_seconds(max(0.0, (due - self._books.clock.now()).total_seconds()))
        wake_up = self._wake_ups.of(ask)
        try:
            async with self._room.waiting(timedelta(seconds=left) + SLACK):
                return await self._settled(ask, wake_up, stop)
        finally:
            self._held.discard(ask)
            self._wake_ups.put_away(ask, wake_up)

    async def _asked(self, question: str, *states: AskState) -> list[AskRow]:
        found = await self._books.records.find(
            AskRow, subject=self._job.id, kind=AskKind.CONFIRM_ACT, state=tuple(states)
        )
        return [row for row in found if row.question == question]

    async def _opened(self, question: str, why: str, always: tuple[str, ...]) -> tuple[str, datetime]:
        """Find the ask that was opened before a restart, or open it."""
        for row in await self._asked(question, AskState.OPEN):
            if row.id not in self._held and row.due_at is not None:
                return row.id, row.due_at
        settings = self._books.settings()
        minutes = settings.asks.confirm_act_minutes
        due = deadline_at(local_time(settings, self._books.clock.now()), minutes)
        draft = AskDraft(
            kind=AskKind.CONFIRM_ACT,
            question=question,
            options=("yes", always_option(always), "no") if always else ("yes", "no"),
            recommendation="no",
            rationale=why,
            priority=8,
            deadline_minutes=minutes,
            silence=Silence.NOT_DONE,
            blocking=True,
            subject=self._job.id,
            project=self._job.project,
            shown_hash=digest("\n".join((question, *always))),
        )
        opened = AskOpened(ask=self._books.ids.new("ask"), session=self._job.session, draft=draft, due_at=due)
        tier = tier_of(NoticeKind.PLAN_READY)
        notice = job_notice(self._books.ids, self._job, tier, cut(question), subject=opened.ask)
        self._held.add(opened.ask)  # before it can be read: an equal call must not take it for one of before a restart
        await self._books.journal.record(opened, notice)
        return opened.ask, due

    async def _settled(self, ask: str, wake_up: asyncio.Event, stop: asyncio.Event) -> HeldAnswer:
        while True:
            try:
                row = await self._books.records.get(AskRow, ask)
            except Unknown:
                return SILENT  # without its row, the ask can never be answered
            if row.state is AskState.ANSWERED:
                yes = _agreed(row)
                text = f"{row.answered_by} said {'yes' if yes else 'no'}."
                return HeldAnswer(yes=yes, text=text, by=row.answered_by, ask=row.id)
            if row.state is not AskState.OPEN:
                return SILENT if row.state is AskState.EXPIRED else STOPPED
            if stop.is_set():
                await withdraw(self._books.journal, row, "the job was stopped")
                continue
            await first_of(wake_up, stop)


async def withdraw(journal: Journal, ask: AskRow, why: str) -> None:
    """Withdraw an ask, unless it was settled in the same moment."""
    with contextlib.suppress(Stale, Refused):
        await journal.record(AskWithdrawn(ask=ask.id, why=why), key=f"ask:{ask.id}:withdrawn")


async def withdraw_calls(journal: Journal, records: Records, job: str) -> None:
    """Withdraw the asks about calls of an attempt that is over."""
    for ask in await records.find(AskRow, subject=job, kind=AskKind.CONFIRM_ACT, state=AskState.OPEN):
        await withdraw(journal, ask, "the agent no longer waits for it")


def _agreed(row: AskRow) -> bool:
    return row.state is AskState.ANSWERED and agrees(row.answer)


async def first_of(*events: asyncio.Event) -> None:
    """Wait until one of the events is set, or until the next look is due."""
    fired = asyncio.Event()

    async def hear(wake_up: asyncio.Event) -> None:
        await wake_up.wait()
        fired.set()

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LOOK_SECONDS), asyncio.TaskGroup() as group:
            hearing = [group.create_task(hear(wake_up)) for wake_up in events]
            await fired.wait()
            for one in hearing:
                one.cancel()
