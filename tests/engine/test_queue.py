"""One promise, two engines: work exists if and only if its entry does, and is carried out once."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import sqlalchemy as sa

from midwatch.engine.inline import InlineEngine
from midwatch.engine.queue_rows import SCHEMA, Args
from midwatch.engine.work_engine import SINGLE, WorkEngine
from midwatch.errors import Stale
from midwatch.journal.follows import QueuedWork, stage_work
from midwatch.store.schema.engines import is_sqlite, open_for_engine
from midwatch.terms.jobs import Stage
from tests.patience import PATIENCE
from tests.store import scenes
from tests.store.opened import Store
from tests.store.processes import until


class Office:
    """An engine at work, and what it was asked to do."""

    def __init__(self, engine: InlineEngine | WorkEngine) -> None:
        self.engine = engine
        self.done: list[tuple[str, Args]] = []
        self.seqs: list[int] = []
        self._moved = asyncio.Event()

    async def perform(self, name: str, args: Args, seq: int) -> None:
        self.done.append((name, args))
        self.seqs.append(seq)
        self._moved.set()

    async def has_done(self, work: QueuedWork) -> None:
        """Return when this was carried out."""
        if isinstance(self.engine, InlineEngine):
            await self.engine.run_ready()
            assert (work.name, work.args) in self.done
        async with asyncio.timeout(PATIENCE):
            while (work.name, work.args) not in self.done:
                await self._moved.wait()
                self._moved.clear()


@asynccontextmanager
async def at_work(store: Store, engine: InlineEngine | WorkEngine, sync: sa.Engine) -> AsyncIterator[Office]:
    office = Office(engine)
    await engine.start(office.perform)
    store.journal.queue = engine.queue
    yield office
    await engine.stop()
    sync.dispose()


@pytest.fixture(params=["inline", "durable"])
async def office(request: pytest.FixtureRequest, store: Store) -> AsyncIterator[Office]:
    sync = open_for_engine(store.url)
    engine = InlineEngine() if request.param == "inline" else WorkEngine(sync, executor=SINGLE, poll_seconds=0.05)
    async with at_work(store, engine, sync) as office:
        yield office


@pytest.fixture
async def hardly_polling(store: Store) -> AsyncIterator[Office]:
    """An engine whose poll comes far too late to be what starts the work."""
    sync = open_for_engine(store.url)
    engine = WorkEngine(sync, executor=SINGLE, poll_seconds=10 * PATIENCE)
    async with at_work(store, engine, sync) as office:
        yield office


async def test_work_starts_when_it_is_committed_and_waits_for_no_poll(
    hardly_polling: Office, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(3):
        await store.journal.record(scenes.job(f"job_{number}", of=f"prj_{number}"))
        await hardly_polling.has_done(prepare(f"job_{number}"))
    assert not caplog.records, "the watch over the queue was never cut off"


PAYLOADS = ("workflow_input", "workflow_output")


def prepare(job: str) -> QueuedWork:
    return stage_work(job, Stage.MIRROR)


async def test_committed_work_is_carried_out_once_and_refused_work_never(office: Office, store: Store) -> None:
    await store.journal.record(scenes.job("job_1"), key="k")
    with pytest.raises(Stale):  # its first event is fine, its second is not, so neither is queued
        await store.journal.record(scenes.job("job_2", of="prj_2"), scenes.job("job_3", of="prj_2"))
    await store.journal.record(scenes.job("job_1"), key="k")
    await store.journal.record(scenes.brief(), scenes.sign(), scenes.begin(), scenes.call(1))
    await store.journal.record(scenes.job("job_4", of="prj_4"))
    last = prepare("job_4")
    await office.has_done(last)
    first, thought = prepare("job_1"), QueuedWork("round", {"session": scenes.NIGHT, "number": 1})
    await office.has_done(first)
    await office.has_done(thought)
    assert sorted(office.done, key=str) == sorted(((one.name, one.args) for one in (first, thought, last)), key=str)


async def test_work_in_a_transaction_that_is_rolled_back_never_happens(office: Office, store: Store) -> None:
    class ChangedMind(Exception):
        """The caller thought better of it."""

    gone, stays = QueuedWork("close", {"job": "gone"}), QueuedWork("close", {"job": "stays"})
    with pytest.raises(ChangedMind), store.writer.engine.begin() as tx:  # noqa: PT012  the transaction is what ends by it
        office.engine.queue.put(tx, gone, seq=1)
        raise ChangedMind
    with store.writer.engine.begin() as tx:
        office.engine.queue.put(tx, stays, seq=2)
    await office.has_done(stays)
    assert office.done == [("close", {"job": "stays"})]


async def test_work_may_record_what_follows(office: Office, store: Store) -> None:
    async def perform(name: str, args: Args, seq: int) -> None:
        if args["job"] == "job_1":
            await store.journal.record(scenes.job("job_2", of="prj_2"), because=[seq])
        await office.perform(name, args, seq)

    if isinstance(office.engine, InlineEngine):
        await office.engine.start(perform)
    else:
        office.engine.perform = perform
    await store.journal.record(scenes.job("job_1"))
    await office.has_done(prepare("job_2"))
    assert (len(office.done), sorted(office.seqs)) == (2, [1, 2])
    assert [entry.because for entry in await store.journal.entries()] == [(), (1,)]


@pytest.mark.parametrize("office", ["durable"], indirect=True)
async def test_the_engine_keeps_plain_json_and_no_pickle(office: Office, store: Store) -> None:
    await store.journal.record(scenes.job("job_1"))
    await office.has_done(prepare("job_1"))
    schema = None if is_sqlite(store.url) else SCHEMA
    status = sa.table("workflow_status", *map(sa.column, ("status", "serialization")), schema=schema)

    async def succeeded() -> list[Any]:
        return list(await store.reader.rows(sa.select(status).where(status.c.status == "SUCCESS")))

    (row,) = await until(succeeded, "the workflow is written down as done")
    assert row.serialization == "portable_json"
    given, given_back = [await _stored(store, f"{schema}.{name}" if schema else name) for name in PAYLOADS]
    assert given == {"namedArgs": {}, "positionalArgs": ["stage", prepare("job_1").args, 1]}
    assert given_back == {"done": "stage"}


async def _stored(store: Store, table: str) -> Any:
    """The one payload in a table of the engine, read as JSON: a pickle would not be."""
    query = sa.text(f"select * from {table}")  # noqa: S608  a name of ours
    (row,) = await store.reader.read(lambda connection: connection.execute(query).all())
    return json.loads(row[1])
