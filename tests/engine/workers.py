"""What the children of engine tests do; module-level, so that another process can find it by name."""

import asyncio
import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import sqlalchemy as sa

from midwatch.compose.opening import going_on
from midwatch.engine.lease import FolderLock, Lease
from midwatch.engine.queue_rows import Args
from midwatch.engine.work_engine import SINGLE, WorkEngine
from midwatch.store.schema.engines import is_sqlite, open_for_engine, open_lease_writer
from tests.store import scenes
from tests.store.opened import opened

LEASE_SECONDS = 3.0
POLL_SECONDS = 0.1


class Diary:
    """What the workers wrote down: who began and who finished which job."""

    def __init__(self, folder: Path) -> None:
        self._lines, self._gate = folder / "diary", folder / "gate"

    def note(self, what: str, args: Args) -> None:
        """One line, appended whole."""
        with self._lines.open("a") as lines:
            lines.write(f"{what} {args['job']} {os.getpid()}\n")

    def jobs(self, what: str, pid: int | None = None) -> list[str]:
        """The jobs that were begun or finished, by one worker or by any."""
        lines = [line.split() for line in self._lines.read_text().splitlines()] if self._lines.exists() else []
        return sorted(job for did, job, by in lines if did == what and pid in {None, int(by)})

    def open_gate(self) -> None:
        """Let work come to its end from now on."""
        self._gate.touch()

    async def labour(self, _: str, args: Args, __: int) -> None:
        """Begin, wait at the gate, finish."""
        self.note("began", args)
        while not self._gate.exists():  # noqa: ASYNC110  another process opens it
            await asyncio.sleep(0.02)
        self.note("finished", args)


def work(url: str, folder: Path, *, naps_in_a_beat: bool = False, poll_seconds: float = POLL_SECONDS) -> None:
    """Be a worker until killed: on PostgreSQL with a lease, on SQLite as the single one."""
    naps = iter([naps_in_a_beat])

    def fall_asleep(_: object, __: object, statement: str, *___: object) -> None:
        if "advisory" in statement and next(naps, False):
            os.kill(os.getpid(), signal.SIGSTOP)

    async def body() -> None:
        engine = open_for_engine(url)
        executor = SINGLE if is_sqlite(url) else f"worker-{os.getpid()}"
        worker = WorkEngine(engine, executor=executor, poll_seconds=poll_seconds)
        lease = None
        if not is_sqlite(url):
            beats = open_lease_writer(url)
            lease = Lease(beats, executor=executor, seconds=LEASE_SECONDS, recover=worker.recover)
            await lease.take()
            sa.event.listen(beats.sync_engine, "after_cursor_execute", fall_asleep)
        await worker.start(Diary(folder).labour)
        (folder / f"ready-{os.getpid()}").touch()
        await (going_on(lease.keep) if lease else asyncio.Event().wait())

    asyncio.run(body())


def stop_inside_record(url: str) -> None:
    """Begin to record, and fall asleep while holding the append lock."""

    naps = iter([True])

    def fall_asleep(_: object, __: object, statement: str, *___: object) -> None:
        if "advisory" in statement and next(naps, False):
            os.kill(os.getpid(), signal.SIGSTOP)

    async def body() -> None:
        async with opened(url) as store:
            sa.event.listen(store.writer.engine, "after_cursor_execute", fall_asleep)
            await store.journal.record(scenes.said("sleeper"), key="sleeper")

    asyncio.run(body())


def hold_the_folder(home: Path, out: Connection) -> None:
    """Take the folder's lock and keep it until killed."""
    lock = FolderLock(home)
    lock.take()
    out.send(os.getpid())
    signal.pause()
