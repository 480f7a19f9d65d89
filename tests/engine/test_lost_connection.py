"""The queue loses nothing when a connection is lost."""

import asyncio

import pytest
import sqlalchemy as sa

from midwatch.engine.queue_rows import Args, QueueRows
from midwatch.engine.work_engine import SINGLE, WorkEngine
from midwatch.journal.follows import stage_work
from midwatch.store.schema.engines import open_for_engine
from midwatch.terms.jobs import Stage
from tests.patience import PATIENCE
from tests.store import scenes
from tests.store.opened import opened

CUT_ALL = sa.text("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()")


@pytest.mark.postgres
async def test_work_outlives_a_lost_connection_and_is_begun_once(postgres_url: str) -> None:
    begun: list[str] = []
    moved, gate = asyncio.Event(), asyncio.Event()

    async def perform(_: str, args: Args, __: int) -> None:
        begun.append(str(args["job"]))
        moved.set()
        await gate.wait()

    async def begins(job: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while job not in begun:
                await moved.wait()
                moved.clear()

    async with opened(postgres_url) as store:
        sync = open_for_engine(postgres_url)
        engine = WorkEngine(sync, executor=SINGLE, poll_seconds=0.1)
        store.journal.queue = engine.queue
        await engine.start(perform)
        await store.journal.record(scenes.job("job_1"))
        await begins("job_1")
        with store.behind() as line:
            line.execute(CUT_ALL)
            # As if the answer to a claim had been lost with the connection.
            lost = QueueRows(sync)
            lost.put(line, "stage", stage_work("job_lost", Stage.MIRROR).args, 99)
            assert len(lost.claim(line, executor=SINGLE, room=9)) == 1
        await store.journal.record(scenes.job("job_2", of="prj_2"))
        await begins("job_2")
        await begins("job_lost")
        gate.set()
        await engine.stop()
        assert sorted(begun) == ["job_1", "job_2", "job_lost"]
        assert store.counts("queued_work") == (0,)
        sync.dispose()
