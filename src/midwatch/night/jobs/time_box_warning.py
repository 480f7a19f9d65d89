"""Warns a running agent that its time box is nearly over, so that it commits its work before it is stopped (O11).

The warning is written to its signals folder at once. If it is still unread, it is sent with the result of the next tool
call, if the driver can do that. An agent that ended its turn gets no new one: it would cost money and time.
"""

import asyncio
from typing import Literal

from midwatch.journal.events.signals import SignalPassed
from midwatch.night.context import WakeUps
from midwatch.ports.books import Books
from midwatch.ports.room import Room
from midwatch.rules.budget.time_boxes import time_left
from midwatch.terms.records import JobRow, TimerRow


def wake_up_key(job: str, epoch: int) -> str:
    """Return the name of the wake-up event for the warning of one attempt."""
    return f"warned:{job}:{epoch}"


class TimeLeft:
    """Warns one attempt about its time, once; also if its agent started after the job was warned."""

    def __init__(self, books: Books, wake_ups: WakeUps, job: JobRow, room: Room) -> None:
        self._books = books
        self._wake_ups = wake_ups
        self._job = job
        self._room = room
        self._key = f"time_left:{job.id}:{room.epoch}"
        self._name = wake_up_key(job.id, job.epoch)
        self._wake_up = wake_ups.of(self._name)  # before the first look, so that a later warning wakes it
        self._turn = asyncio.Lock()
        self._looked = False
        self._laid = False
        self._noted = False

    async def look(self) -> None:
        """Look whether the job was warned: once at the start, then at each wake-up."""
        if not self._looked or self._wake_up.is_set():
            await self._once()
            self._looked = True

    async def _once(self) -> None:
        async with self._turn:  # a call may be answered at the moment of the wake-up
            if not self._laid:
                await self._lay()

    async def _lay(self) -> None:
        """Write the warning if the job has one; the journal knows whether that was done before a restart."""
        words = await self._words()
        self._laid = await self._books.journal.known(self._key) is not None
        if words and not self._laid:
            await asyncio.to_thread(self._room.letters.warn, words)
            await self._record("file", words, self._key)
            self._laid = True
        elif not self._laid:
            await self.take_back()  # a home is passed to the next attempt, with the unread warnings in it

    async def note(self, call: str) -> str:
        """Return the warning with the result of one tool call; the same call asked again gets the same text."""
        await self.look()
        if not self._laid:
            return ""
        key = f"{self._key}:{call}"
        known = await self._books.journal.known(key)
        if known is not None and isinstance(known.event, SignalPassed):
            return known.event.text
        async with self._turn:  # of two calls at the same time, only one gets it
            lies = not self._noted and await asyncio.to_thread(self._room.letters.warning_unread)
            if not lies or not (words := await self._words()):
                return ""
            await self._record("call", words, key)  # before it is removed: after a crash here, the call is asked again
            self._noted = True
            await self.take_back()
        return words

    async def take_back(self) -> None:
        await asyncio.to_thread(self._room.letters.take_warning_back)

    def end(self) -> None:
        """Stop waiting for the warning."""
        self._wake_ups.put_away(self._name, self._wake_up)

    async def _record(self, how: Literal["file", "call"], words: str, key: str) -> None:
        result = SignalPassed(job=self._job.id, epoch=self._job.epoch, signals=(), how=how, text=words)
        await self._books.journal.record(result, key=key)

    async def _words(self) -> str:
        """Return the warning's text; empty if the job is not warned, or already stops."""
        job = await self._books.records.get(JobRow, self._job.id)
        timers = await self._books.records.find(TimerRow, kind="box", subject=job.id)
        if job.box_warned_at is None or not timers:
            return ""
        return time_left(timers[0].due_at - self._books.clock.now())
