"""kill -9 while work is under way: the next start on the same data carries it out again."""

import asyncio
from pathlib import Path

import pytest

from midwatch.engine.work_engine import DurableQueue
from midwatch.store.schema.engines import open_for_engine
from tests.engine.workers import Diary, work
from tests.store import processes, scenes
from tests.store.opened import opened

JOBS = ["job_0", "job_1", "job_2"]


async def order(url: str) -> None:
    """Record three jobs, which queues their first stage."""
    async with opened(url) as store:
        engine = open_for_engine(url)
        store.journal.queue = DurableQueue(engine)
        for job in JOBS:
            await store.journal.record(scenes.job(job, of=f"prj_{job}"))
        engine.dispose()


@pytest.mark.crash
def test_the_next_start_carries_out_again_what_was_under_way(sqlite_url: str, tmp_path: Path) -> None:
    diary, first = Diary(tmp_path), processes.start(work, sqlite_url, tmp_path)
    processes.wait_until((tmp_path / f"ready-{first.pid}").exists, "the first worker is ready")
    asyncio.run(order(sqlite_url))
    processes.wait_until(lambda: diary.jobs("began") == JOBS, "the first worker began")
    first.kill()
    assert processes.finish(first) == -9
    assert diary.jobs("finished") == []
    diary.open_gate()
    second = processes.start(work, sqlite_url, tmp_path)
    processes.wait_until(lambda: diary.jobs("finished") == JOBS, "the second worker finished")
    assert diary.jobs("began", second.pid) == JOBS
    second.kill()
    assert processes.finish(second) == -9


@pytest.mark.crash
def test_what_is_finished_is_not_carried_out_again(sqlite_url: str, tmp_path: Path) -> None:
    diary = Diary(tmp_path)
    diary.open_gate()
    for _ in range(2):
        worker = processes.start(work, sqlite_url, tmp_path)
        processes.wait_until((tmp_path / f"ready-{worker.pid}").exists, "the worker is ready")
        if not diary.jobs("began"):
            asyncio.run(order(sqlite_url))
            processes.wait_until(lambda: all_done(sqlite_url), "the engine wrote down that all is done")
        worker.kill()
        assert processes.finish(worker) == -9
    assert diary.jobs("began") == JOBS


def all_done(url: str) -> bool:
    """Whether nothing is left to do; what is done is deleted."""
    engine = open_for_engine(url)
    with engine.connect() as connection:
        left = connection.exec_driver_sql("select count(*) from queued_work").scalar()
    engine.dispose()
    return left == 0
