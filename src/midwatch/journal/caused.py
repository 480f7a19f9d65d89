"""A journal view that adds a cause to what it records."""

from collections.abc import AsyncIterator, Iterable

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.port import Journal


class CausedJournal:
    """Names one entry as the cause of everything recorded without a cause of its own."""

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
