"""The one loop that serves every wait: rows with `due_at`, each served once, none lost in a restart."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from datetime import timedelta

from midwatch.errors import Refused, Stale
from midwatch.journal.events.morning import ReviewTimedOut
from midwatch.journal.events.session import RoundCalled, SessionEnded
from midwatch.night.asks import settlement
from midwatch.night.jobs import time_box
from midwatch.night.notify import outbox
from midwatch.night.recovery import cleanup, waits
from midwatch.night.recovery.due_words import in_words
from midwatch.night.recovery.duties import FIRST_PAUSE, Duties
from midwatch.ports.books import Books
from midwatch.ports.journal import Journal, Records
from midwatch.terms.projects import SessionState
from midwatch.terms.records import SessionRow, TimerRow

LONGEST_SECONDS = 5.0
"""Another process may have set a timer, so look at least this often."""
GATHER_SECONDS = 0.02
"""How long to collect new entries before the timers are read again."""
_GROUP = "timer: "


class TimerLoop:
    """Sleeps until the next row is due or an entry is recorded; never polls quickly."""

    def __init__(self, books: Books, duties: Duties) -> None:
        self._books = books
        self._duties = duties
        self._wake_up = asyncio.Event()

    def wake_now(self) -> None:
        """Wake the loop: an entry was recorded, and the next due time may have changed."""
        self._wake_up.set()

    async def run(self) -> None:
        """Serve until cancelled."""
        while True:
            self._wake_up.clear()  # before looking, so that a wake-up during the look is kept
            wait = await self.serve_due()
            # Not wait_for: on Python 3.11 it swallows a cancellation that comes at the same moment as the event.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._wake_up.wait()
                    await asyncio.sleep(GATHER_SECONDS)

    async def serve_due(self) -> float:
        """Serve every row that is due; return the real seconds until the next."""
        rows = sorted(await self._books.records.find(TimerRow), key=lambda row: row.due_at)
        self._duties.forget(_GROUP, {_key(row) for row in rows})
        now = self._books.clock.now()
        for row in rows:
            if row.due_at <= now:
                await self._serve(row)
        left = [row.due_at for row in rows if row.due_at > now]
        if not left:
            return LONGEST_SECONDS
        seconds = self._books.clock.real_seconds((left[0] - now) / timedelta(seconds=1))
        return min(LONGEST_SECONDS, max(0.01, seconds))

    async def _serve(self, row: TimerRow) -> None:
        """Record the consequence; its projector removes the row. One that fails keeps no other from being served.

        People wait for it, so it is tried again each minute.
        """

        async def serve() -> None:
            with contextlib.suppress(Stale, Refused):  # of two workers at once, the second gets Stale
                await SERVED[row.kind](self._books, row)

        if self._duties.due(key := _key(row)):
            duty = await in_words(self._books.records, row)
            await self._duties.carry_out(duty, serve, key=key, longest=FIRST_PAUSE)


def _key(row: TimerRow) -> str:
    """Name a wait and its time: a new time inherits no pause from the one before it."""
    return f"{_GROUP}{row.id} {row.due_at.isoformat()}"


async def call_round(journal: Journal, records: Records, session_id: str, why: str) -> None:
    session = await records.get(SessionRow, session_id)
    number = session.rounds + 1
    called = RoundCalled(session=session.id, number=number, why=why)
    await journal.record(called, key=f"round:{session.id}:{number}:called")


async def _time_over(books: Books, session_id: str) -> None:
    session = await books.records.get(SessionRow, session_id)
    await settlement.debrief(books, session_id, f"the {session.noun}'s time is used up")


async def _review_over(journal: Journal, records: Records, session_id: str) -> None:
    session = await records.get(SessionRow, session_id)
    ended = SessionEnded(session=session_id, reason="the review was not given in time")
    events = (ReviewTimedOut(session=session_id), *((ended,) if session.state is SessionState.DEBRIEF else ()))
    await journal.record(*events, key=f"review:{session_id}:over")


SERVED: dict[str, Callable[[Books, TimerRow], Awaitable[None]]] = {
    "round": lambda books, row: call_round(books.journal, books.records, row.subject, "timer"),
    "ask": lambda books, row: settlement.expire(books.journal, books.records, row.subject, row.due_at),
    "session_limit": lambda books, row: _time_over(books, row.subject),
    "job": lambda books, row: waits.wake(books.journal, books.records, row.subject, by="its time is due"),
    "box": lambda books, row: time_box.box_due(books, row.subject, row.due_at),
    "channel": lambda books, row: outbox.dispatch(books, row.subject),
    "stack": lambda books, row: cleanup.give_up_stack(
        books.journal, books.records, row.subject, "It took longer than stack.max_minutes."
    ),
    "review": lambda books, row: _review_over(books.journal, books.records, row.subject),
}
"""What happens when each kind of wait is due."""
