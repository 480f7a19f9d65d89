"""Reading beside the writer: a few threads, each read in one of them."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import sqlalchemy as sa

from midwatch.store.schema.engines import READERS, open_reader

T = TypeVar("T")


class DatabaseReader:
    """A read crosses to a thread once; an asynchronous driver crosses for each call on the connection, some fifteen."""

    def __init__(self, url: str) -> None:
        self.engine = open_reader(url)
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="reader")

    async def read(self, work: Callable[[sa.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, work)

    async def rows(self, query: sa.Executable, **given: object) -> Sequence[sa.Row[Any]]:
        return await self.read(lambda connection: connection.execute(query, given).all())

    async def first(self, query: sa.Executable, **given: object) -> sa.Row[Any] | None:
        return await self.read(lambda connection: connection.execute(query, given).first())

    def _run(self, work: Callable[[sa.Connection], T]) -> T:
        try:
            with self.engine.connect() as connection:
                return work(connection)
        except sa.exc.DBAPIError as error:
            if not error.connection_invalidated:
                raise
        with self.engine.connect() as connection:  # the connection was lost and the pool is new
            return work(connection)

    async def close(self) -> None:
        """Finish what has begun, then close the connections."""
        await asyncio.to_thread(self._threads.shutdown)
        self.engine.dispose()
