"""One promise, two engines: work exists if and only if its entry does, and is carried out once."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import sqlalchemy as sa

from midwatch.engine.inline import InlineEngine
from midwatch.engine.queue_rows import Args, FinishedWork, queued_work
from midwatch.engine.work_engine import SINGLE, WorkEngine
from midwatch.errors import Stale
from midwatch.journal.follows import QueuedWork, stage_work
from midwatch.store.schema.engines import open_for_engine
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


@pytest.mark.parametrize("office", ["inline"], indirect=True)
async def test_work_is_not_ready_while_its_commit_is_under_way(office: Office, store: Store) -> None:
    assert isinstance(office.engine, InlineEngine)
    ready, seen = office.engine.ready, []
    sa.event.listen(store.writer.engine, "commit", lambda _: seen.append(len(ready)))
    await store.journal.record(scenes.job("job_1"))
    assert (seen, len(ready)) == ([0], 1)


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
    await office.has_done(prepare("job_1"))  # it began first, and may end last
    assert (len(office.done), sorted(office.seqs)) == (2, [1, 2])
    assert [entry.because for entry in await store.journal.entries()] == [(), (1,)]


@pytest.mark.parametrize("office", ["durable"], indirect=True)
async def test_done_work_leaves_nothing_and_failed_work_says_why(
    office: Office, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    async def perform(name: str, args: Args, seq: int) -> None:
        if args["job"] == "bad":
            raise ValueError("no such thing")
        await office.perform(name, args, seq)

    assert isinstance(office.engine, WorkEngine)
    office.engine.perform = perform
    with store.writer.engine.begin() as tx:
        office.engine.queue.put(tx, QueuedWork("close", {"job": "bad"}), seq=1)
        office.engine.queue.put(tx, QueuedWork("close", {"job": "well", "deep": {"ø": [None, True]}}), seq=2)

    async def left() -> list[Any]:
        rows = list(await store.reader.rows(sa.select(queued_work)))
        return rows if len(rows) == 1 and rows[0].error else []

    (row,) = await until(left, "one is deleted, the other says why it is not")
    assert (row.seq, row.work, json.loads(row.args)) == (1, "close", {"job": "bad"})
    assert row.error == "ValueError: no such thing"
    assert office.done == [("close", {"job": "well", "deep": {"ø": [None, True]}})]
    assert "close-1 failed" in caplog.text
    with store.writer.engine.begin() as tx:
        office.engine.queue.rows.requeue(tx, [SINGLE])
    assert len(await left()) == 1, "what failed is not begun again"


@pytest.mark.parametrize("office", ["durable"], indirect=True)
async def test_a_worker_that_lost_its_work_cannot_finish_it(office: Office, store: Store) -> None:
    assert isinstance(office.engine, WorkEngine)
    rows = office.engine.queue.rows
    with store.writer.engine.begin() as tx:  # claimed and put back before the engine sees any of it
        rows.put(tx, "close", {"job": "taken"}, 1)
        rows.put(tx, "close", {"job": "other"}, 1)
        (claimed,) = rows.claim(tx, executor="first", room=9)
        rows.requeue(tx, ["first"])
        assert rows.claim(tx, executor="second", room=9) == [claimed]
        rows.finish(tx, [FinishedWork(claimed)], executor="first")
        assert tx.execute(sa.select(queued_work.c.executor, queued_work.c.args)).all() == [
            ("second", '{"job": "taken"}')
        ]
        rows.finish(tx, [FinishedWork(claimed)], executor="second")
        assert tx.execute(sa.select(queued_work)).all() == []
