"""PostgreSQL: workers watch over each other. A dead or stopped one loses its work; woken, it leaves at once."""

import asyncio
import os
import signal
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
import sqlalchemy as sa

from midwatch.engine.lease import LOST_LEASE
from midwatch.store.schema.engines import open_sync_writer
from midwatch.store.schema.tables import leases
from tests.engine.test_restart import JOBS, order
from tests.engine.workers import Diary, stop_inside_record, work
from tests.patience import PATIENCE
from tests.store import processes, scenes
from tests.store.opened import opened

pytestmark = [pytest.mark.postgres, pytest.mark.crash]


def start_worker(url: str, folder: Path) -> BaseProcess:
    worker = processes.start(work, url, folder)
    processes.wait_until((folder / f"ready-{worker.pid}").exists, "the worker is ready")
    return worker


def living(url: str) -> set[str]:
    engine = open_sync_writer(url)
    with engine.connect() as connection:
        found = set(connection.execute(sa.select(leases.c.executor)).scalars())
    engine.dispose()
    return found


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_the_other_worker_takes_over(postgres_url: str, tmp_path: Path, blow: signal.Signals) -> None:
    diary, victim = Diary(tmp_path), start_worker(postgres_url, tmp_path)
    asyncio.run(order(postgres_url))
    processes.wait_until(lambda: diary.jobs("began", victim.pid) == JOBS, "the victim began")
    heir = start_worker(postgres_url, tmp_path)
    assert living(postgres_url) == {f"worker-{victim.pid}", f"worker-{heir.pid}"}
    assert diary.jobs("began", heir.pid) == []  # nobody takes work from the living
    assert victim.pid
    os.kill(victim.pid, blow)
    processes.wait_until(lambda: diary.jobs("began", heir.pid) == JOBS, "the heir took over")
    assert living(postgres_url) == {f"worker-{heir.pid}"}
    if blow == signal.SIGSTOP:
        os.kill(victim.pid, signal.SIGCONT)
    assert processes.finish(victim) == (LOST_LEASE if blow == signal.SIGSTOP else -signal.SIGKILL)
    diary.open_gate()
    processes.wait_until(lambda: diary.jobs("finished") == JOBS, "all is finished")
    assert diary.jobs("finished", heir.pid) == JOBS
    heir.kill()
    processes.finish(heir)


def test_a_worker_that_fell_asleep_in_the_middle_of_a_beat_leaves_when_it_wakes(
    postgres_url: str, tmp_path: Path
) -> None:
    """Its transaction is ended by the database meanwhile, so that the others may look after it."""
    sleeper = processes.start(partial(work, naps_in_a_beat=True), postgres_url, tmp_path)
    processes.wait_until((tmp_path / f"ready-{sleeper.pid}").exists, "the sleeper is ready")
    heir = start_worker(postgres_url, tmp_path)
    processes.wait_until(lambda: living(postgres_url) == {f"worker-{heir.pid}"}, "the sleeper has no lease")
    assert sleeper.pid
    os.kill(sleeper.pid, signal.SIGCONT)
    assert processes.finish(sleeper) == LOST_LEASE
    heir.kill()
    processes.finish(heir)


def test_a_worker_hears_of_work_that_another_process_queued_without_a_poll(postgres_url: str, tmp_path: Path) -> None:
    worker = processes.start(partial(work, poll_seconds=10 * PATIENCE), postgres_url, tmp_path)
    processes.wait_until((tmp_path / f"ready-{worker.pid}").exists, "the worker is ready")
    asyncio.run(order(postgres_url))
    processes.wait_until(lambda: Diary(tmp_path).jobs("began") == JOBS, "the worker began")
    worker.kill()
    processes.finish(worker)


async def test_a_writer_that_fell_asleep_does_not_hold_up_the_others(postgres_url: str) -> None:
    sleeper = processes.start(stop_inside_record, postgres_url)
    assert sleeper.pid
    async with opened(postgres_url) as store:

        async def locked() -> bool:
            held = sa.text("select 1 from pg_locks where locktype = 'advisory' and granted")
            return bool(await store.reader.read(lambda connection: connection.execute(held).all()))

        await processes.until(locked, "the sleeper holds the append lock")
        (entry,) = await store.journal.record(scenes.said("awake"))
        assert entry.seq == 1
        os.kill(sleeper.pid, signal.SIGCONT)
        assert await asyncio.to_thread(processes.finish, sleeper) == 0
        said = [one.event for one in await store.journal.entries()]
        assert said == [
            scenes.said("awake"),
            scenes.said("sleeper"),
        ]  # its line was cut; it looked again and wrote once
