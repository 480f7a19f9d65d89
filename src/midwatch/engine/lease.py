"""Leases on PostgreSQL: each worker sends heartbeats; the others take over from one that stopped."""

import asyncio
import fcntl
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

import sqlalchemy as sa

from midwatch.engine.queue_rows import queued_work
from midwatch.errors import Refused

if TYPE_CHECKING:  # importing it imports the ORM, and SQLite needs no lease
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

REAP_LOCK = 0x72656170
LOST_LEASE = 75
"""Exit code of a worker that was declared dead (EX_TEMPFAIL): the service manager restarts it."""

# The engine's own view of the table the store migrates: siblings do not import each other.
leases = sa.table("leases", sa.column("executor", sa.Text), sa.column("beat", sa.DateTime(timezone=True)))
db_now: sa.Function[datetime] = sa.func.clock_timestamp()  # the database's clock decides, never a worker's


class Lease:
    """Renews the lease inside the event loop: a worker whose loop hangs must lose its lease."""

    def __init__(
        self, engine: "AsyncEngine", *, executor: str, seconds: float, recover: Callable[[list[str]], None]
    ) -> None:
        self._engine = engine
        self._executor = executor
        self._seconds = seconds
        self._recover = recover

    async def take(self) -> None:
        """Take the lease before the engine starts: a worker that dequeues without one would be treated as dead."""
        async with self._engine.begin() as tx:
            await tx.execute(sa.insert(leases).values(executor=self._executor, beat=db_now))

    async def keep(self) -> None:
        """Renew the lease until cancelled, and take over from workers that stopped."""
        while True:
            await self.beat()
            await asyncio.sleep(self._seconds / 6)

    async def beat(self) -> None:
        """Renew the lease once; a worker that lost it exits at once."""
        async with self._engine.begin() as tx:
            beaten = sa.update(leases).where(leases.c.executor == self._executor).values(beat=db_now)
            if not (await tx.execute(beaten)).rowcount:
                os._exit(LOST_LEASE)
            if (await tx.execute(sa.select(sa.func.pg_try_advisory_xact_lock(REAP_LOCK)))).scalar():
                await self._reap(tx)

    async def _reap(self, tx: "AsyncConnection") -> None:
        too_old = leases.c.beat < db_now - sa.func.make_interval(0, 0, 0, 0, 0, 0, self._seconds)
        await tx.execute(sa.delete(leases).where(too_old))
        living = sa.select(leases.c.executor).union(sa.select(sa.literal("")))  # not claimed yet
        orphaned = sa.select(queued_work.c.executor).distinct()
        orphaned = orphaned.where(queued_work.c.error == "", queued_work.c.executor.not_in(living))
        orphans = list((await tx.execute(orphaned)).scalars())
        # Commit first: a dead worker's lease must be gone before its work is taken. The next beat repeats it if we die.
        await tx.commit()
        if orphans:
            await asyncio.to_thread(self._recover, orphans)

    async def give_up(self) -> None:
        async with self._engine.begin() as tx:
            await tx.execute(sa.delete(leases).where(leases.c.executor == self._executor))
        await self._engine.dispose()


class FolderLock:
    """An exclusive flock on `server.lock`."""

    def __init__(self, home: Path) -> None:
        self._path = home / "server.lock"
        self._file: IO[str] | None = None

    def take(self) -> None:
        """Take the lock, or report which process has it."""
        file = self._path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as held:
            file.seek(0)
            owner = file.read().strip() or "another process"
            file.close()
            raise Refused(
                f"Midwatch is already running on {self._path.parent} (process {owner}).",
                hint="Use it as it is, or stop it first: midwatch down",
            ) from held
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file

    def release(self) -> None:
        """Let go."""
        if self._file is not None:
            self._file.close()
            self._file = None
