"""Recurring duties: one that fails stops no other, is tried again after longer and longer pauses, and is reported.

Its own module: the patrol and the timers both have duties, and the status shows which of them fail.
"""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from midwatch.errors import MidwatchError
from midwatch.night.notify.notice import cut, notice
from midwatch.ports.books import Books
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.terms.figures import some
from midwatch.terms.records import SessionRow
from midwatch.views.text.plain import as_sentence, clean

log = logging.getLogger("midwatch.duties")
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=1)
SAID_AFTER = 2
"""Failures in a row after which a person gets a notice; the first may be a locked database."""
LONGEST_WHY = 300
T = TypeVar("T")
Each = Callable[[Iterable[T], Callable[[T], Awaitable[object]]], Awaitable[int]]
"""Does something for every item, and returns for how many it was done."""


@dataclass(slots=True)
class _Failing:
    duty: str
    times: int = 0
    why: str = ""


class Duties:
    """Remembers which duties fail, and when each is due again; a restart tries all of them at once.

    A duty in words may be many in fact, such as one for each job. Each has a key and pauses of its own; people read of
    the duty once.
    """

    def __init__(self, books: Books, redact: Callable[[str], str] = str) -> None:
        self._books = books
        self._redact = redact
        self._failing: dict[str, _Failing] = {}
        self._due: dict[str, datetime] = {}
        self._said: set[str] = set()

    def troubles(self) -> tuple[str, ...]:
        """Say of each failing duty what is wrong."""
        worst: dict[str, _Failing] = {}
        for one in self._failing.values():
            if one.duty not in worst or one.times > worst[one.duty].times:
                worst[one.duty] = one
        many = Counter(one.duty for one in self._failing.values())
        return tuple(
            f"{_told(one)}{f' It fails for {many[duty] - 1} more.' if many[duty] > 1 else ''}"
            for duty, one in worst.items()
        )

    def due(self, key: str) -> bool:
        return key not in self._due or self._due[key] <= self._books.clock.now()

    async def carry_out(
        self,
        duty: str,
        work: Callable[[], Awaitable[T]],
        every: timedelta = timedelta(0),
        *,
        key: str = "",
        longest: timedelta = LONGEST_PAUSE,
    ) -> T | None:
        """Do what is due, and return what came of it; nothing where it failed or is not due yet."""
        key = key or duty
        if not self.due(key):
            return None
        try:
            done = await work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the other duties go on
            await self._failed(key, duty, error, longest)
            return None
        if every:
            self._due[key] = self._books.clock.now() + every
        else:
            self._due.pop(key, None)
        if (failing := self._failing.pop(key, None)) is not None:
            await self._works_again(failing.duty)
        return done

    def each_of(self, duty: str) -> Each[T]:
        """Do a duty item by item: one that fails has its pauses alone, and the others keep their pace."""

        async def each(items: Iterable[T], act: Callable[[T], Awaitable[object]]) -> int:
            chosen = {f"{duty}: {item}": item for item in items}
            done = 0
            for key, item in chosen.items():

                async def work(item: T = item) -> bool:
                    await act(item)
                    return True

                done += bool(await self.carry_out(duty, work, key=key))
            for over in self.forget(f"{duty}: ", chosen):
                await self._say(f"{over} works again.")
            return done

        return each

    def forget(self, group: str, but: Collection[str]) -> tuple[str, ...]:
        """Forget a group's keys that are no more; return the duties that people read of and none is left of."""
        gone = [key for key in self._due if key.startswith(group) and key not in but]
        failed = {self._failing.pop(key).duty for key in gone if key in self._failing}
        for key in gone:
            del self._due[key]
        over = failed & self._said - {one.duty for one in self._failing.values()}
        self._said -= over
        return tuple(over)

    async def _works_again(self, duty: str) -> None:
        if duty in self._said and all(one.duty != duty for one in self._failing.values()):
            self._said.discard(duty)
            await self._say(f"{duty} works again.")

    async def _failed(self, key: str, duty: str, error: Exception, longest: timedelta) -> None:
        failing = self._failing.setdefault(key, _Failing(duty))
        failing.why = said_by(error, self._redact)
        pause = min(FIRST_PAUSE * 2 ** min(failing.times, 10), longest)
        failing.times += 1
        self._due[key] = self._books.clock.now() + pause
        log.warning("%s failed (%s), next try in %s", duty, key, pause, exc_info=error)
        if failing.times >= SAID_AFTER and duty not in self._said:
            again = "after longer and longer pauses of up to an hour" if longest > FIRST_PAUSE else "each minute"
            if await self._say(f"{_told(failing)} Midwatch tries it again, {again}; everything else goes on."):
                self._said.add(duty)

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


def _told(failing: _Failing) -> str:
    return f"{failing.duty} failed {some(failing.times, 'time')} in a row: {failing.why}"


def said_by(error: Exception, redact: Callable[[str], str] = str) -> str:
    """Put an error into one short line without secrets; a database adds its whole statement in further lines."""
    if isinstance(error, MidwatchError):
        return clean(redact(f"{error.message} {error.hint}".strip()), LONGEST_WHY)
    first, *_ = redact(str(error)).strip().splitlines() or [""]
    return as_sentence(clean(f"{type(error).__name__}: {first}".rstrip(": "), LONGEST_WHY))


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
