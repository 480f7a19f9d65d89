"""Our statements write what DBOS itself would write, and lose nothing when a connection is lost."""

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa
from dbos import DBOSClient, DBOSPortableJSONSerializer

from midwatch.engine.queue_rows import NAME, QUEUE, SCHEMA, WORKFLOW, Args, QueueRows
from midwatch.engine.work_engine import SINGLE, WorkEngine
from midwatch.journal.follows import stage_work
from midwatch.store.schema.engines import is_sqlite, open_for_engine
from midwatch.terms.jobs import Stage
from tests.patience import PATIENCE
from tests.store import scenes
from tests.store.opened import Store, opened

ITS_OWN = {"workflow_uuid", "created_at", "updated_at", "retention_timestamp", "creator_xid"}
"""Names, times and DBOS's token for finding its own insert again, which we have no use for."""
EMPTY = (None, "null")
CUT_ALL = sa.text("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()")


def test_a_queued_row_is_the_one_that_dbos_would_write(database_url: str) -> None:
    engine = open_for_engine(database_url)
    rows = QueueRows(engine)
    rows.bring_into_shape()
    args: Args = {"job": "jøb", "n": 1, "deep": {"a": [None, True]}}
    client = DBOSClient(
        system_database_engine=engine,
        dbos_system_schema=SCHEMA,
        application_name=NAME,
        serializer=DBOSPortableJSONSerializer(),
        lazy=True,
    )
    with engine.begin() as tx:
        rows.put(tx, "ours", args, 7)
        rows.put(tx, "ours", {"another": "time"}, 7)
        options: Any = {"workflow_name": WORKFLOW, "queue_name": QUEUE, "workflow_id": "theirs"}
        client.enqueue_in_transaction(tx, options, "ours", args, 7)
    schema = "" if is_sqlite(database_url) else f"{SCHEMA}."
    with engine.begin() as tx:
        for table in ("workflow_status", "workflow_input"):
            found = tx.execute(sa.text(f"select * from {schema}{table} order by workflow_uuid")).mappings().all()  # noqa: S608
            ours, theirs = ({k: v for k, v in row.items() if k not in ITS_OWN and v != "null"} for row in found)
            assert {k: v for k, v in ours.items() if v is not None} == {
                k: v for k, v in theirs.items() if v is not None
            }
    engine.dispose()


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
            line.execute(
                sa.text("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()")
            )
            # As if the answer to a claim had been lost with the connection.
            lost = QueueRows(sync)
            lost.put(line, "stage", stage_work("job_lost", Stage.MIRROR).args, 99)
            assert len(lost.claim(line, executor=SINGLE, owner="gone", room=9)) == 1
        await store.journal.record(scenes.job("job_2", of="prj_2"))
        await begins("job_2")
        await begins("job_lost")
        gate.set()
        await engine.stop()
        assert sorted(begun) == ["job_1", "job_2", "job_lost"]
        assert _states(store) == ["SUCCESS"] * 3
        sync.dispose()


def _states(store: Store) -> list[str]:
    with store.behind() as line:
        return list(line.execute(sa.text(f"select status from {SCHEMA}.workflow_status")).scalars())  # noqa: S608
