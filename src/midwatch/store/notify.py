"""How a follower is notified of new entries, also from another process."""

import asyncio
from types import TracebackType
from typing import Any, Self

from midwatch.store.schema.engines import is_sqlite, open_bare

POLL_SECONDS = 0.05
LISTEN_SECONDS = 30.0


class Wake:
    """PostgreSQL wakes by NOTIFY, SQLite by a counter of other connections' commits. A false wake never matters."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._last: object = None
        self._connection: Any = None

    async def __aenter__(self) -> Self:
        if is_sqlite(self._url):
            self._connection = open_bare(self._url)
        else:
            import psycopg  # noqa: PLC0415  an extra: only those who chose PostgreSQL have it

            self._connection = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
            await self._connection.execute("LISTEN journal")
        return self

    async def wait(self, gather: float = 0.0) -> None:
        """Return when it is worth looking; `gather` lets a burst come together first."""
        if not is_sqlite(self._url):
            async for _ in self._connection.notifies(timeout=LISTEN_SECONDS, stop_after=1):
                pass
            await asyncio.sleep(gather)
            async for _ in self._connection.notifies(timeout=0):
                pass
            return
        while (now := self._connection.execute("PRAGMA data_version").fetchone()) == self._last:  # noqa: ASYNC110  no event reaches us
            await asyncio.sleep(POLL_SECONDS)
        self._last = now

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if is_sqlite(self._url):
            self._connection.close()
        else:
            await self._connection.close()
