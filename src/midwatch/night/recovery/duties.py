"""Recurring duties: one that fails stops no other, is tried again after longer and longer pauses, and is reported.

Its own module: the patrol and the timers both have duties, and the status shows which of them fail.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from midwatch.errors import MidwatchError
from midwatch.night.notify.notice import cut, notice
from midwatch.ports.books import Books
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.terms.figures import some
from midwatch.terms.records import SessionRow

log = logging.getLogger("midwatch.duties")
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=1)
SAID_AFTER = 2
"""Failures in a row after which a person gets a notice; the first may be a locked database."""
T = TypeVar("T")


@dataclass(slots=True)
class _Failing:
    times: int = 0
    why: str = ""
    said: bool = False


class Duties:
    """Remembers which duties fail, and when each is due again; a restart tries all of them at once."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self._failing: dict[str, _Failing] = {}
        self._due: dict[str, datetime] = {}

    def troubles(self) -> tuple[str, ...]:
        """Say of each failing duty what is wrong."""
        return tuple(
            f"{duty} failed {some(failing.times, 'time')} in a row: {failing.why}"
            for duty, failing in self._failing.items()
        )

    def due(self, duty: str) -> bool:
        return duty not in self._due or self._due[duty] <= self._books.clock.now()

    async def carry_out(self, duty: str, work: Callable[[], Awaitable[T]], every: timedelta = timedelta(0)) -> T | None:
        """Do what is due, and return what came of it; nothing where it failed or is not due yet."""
        if not self.due(duty):
            return None
        try:
            done = await work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the other duties go on
            await self._failed(duty, error)
            return None
        if every:
            self._due[duty] = self._books.clock.now() + every
        else:
            self._due.pop(duty, None)
        if (failing := self._failing.pop(duty, None)) is not None and failing.said:
            await self._say(f"{duty} works again.")
        return done

    async def _failed(self, duty: str, error: Exception) -> None:
        failing = self._failing.setdefault(duty, _Failing())
        failing.why = said_by(error)
        pause = min(FIRST_PAUSE * 2 ** min(failing.times, 10), LONGEST_PAUSE)
        failing.times += 1
        self._due[duty] = self._books.clock.now() + pause
        log.warning("%s failed, next try in %s", duty, pause, exc_info=error)
        if failing.times >= SAID_AFTER and not failing.said:
            failing.said = await self._say(
                f"{duty} failed {some(failing.times, 'time')} in a row: {failing.why} "
                "Midwatch tries it again, after longer and longer pauses of up to an hour; everything else goes on."
            )

    async def _say(self, text: str) -> bool:
        """Raise a notice in the newest night; return whether that was possible."""
        try:
            sessions = await self._books.records.find(SessionRow)
            if sessions:
                tier = tier_of(NoticeKind.ERROR)
                told = notice(self._books.ids, sessions[-1].id, tier, cut(text), subject=sessions[-1].id)
                await self._books.journal.record(told)
        except Exception:  # the database itself may be what fails
            log.exception("no notice could be written: %s", text)
            return False
        return bool(sessions)


def said_by(error: Exception) -> str:
    """Put an error into one line."""
    if isinstance(error, MidwatchError):
        return f"{error.message} {error.hint}".strip()
    return f"{type(error).__name__}: {error}".rstrip(": ") + "."


async def for_each(items: Iterable[T], act: Callable[[T], Awaitable[object]]) -> int:
    """Do it for every item and return how many there were; an error of one waits until the others had their turn."""
    failed: list[Exception] = []
    count = 0
    for item in items:
        count += 1
        try:
            await act(item)
        except Exception as error:
            log.warning("failed for %s", item, exc_info=error)
            failed.append(error)
    if failed:
        raise failed[0]
    return count
