"""The line for writing: lost, shared and cancelled, and still each entry is written once and heard once."""

import asyncio
import threading
from datetime import UTC, datetime
from functools import partial

import pytest
import sqlalchemy as sa

from midwatch.errors import Stale
from midwatch.journal.entry import Entry
from midwatch.ports.journal import in_background
from midwatch.store.schema.engines import open_for_engine, open_sync_writer, write_turns
from midwatch.store.schema.tables import leases
from tests.store import processes, scenes
from tests.store.opened import Store, opened


async def test_another_process_wrote_meanwhile(store: Store) -> None:
    async with opened(store.url) as other:
        for number in range(3):
            await store.journal.record(scenes.said(f"a{number}"), key=f"a{number}")
            await other.journal.record(scenes.said(f"b{number}"), key=f"b{number}")
        again = await store.journal.record(scenes.said("b1"), key="b1")
    assert [entry.seq for entry in await store.journal.entries()] == [1, 2, 3, 4, 5, 6]
    assert [entry.seq for entry in again] == [4]


async def test_a_lost_line_is_taken_up_again(postgres_url: str) -> None:

    async with opened(postgres_url) as store:
        await store.journal.record(scenes.said("before"))
        with store.behind() as connection:
            connection.execute(
                sa.text("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()")
            )
        await store.journal.record(scenes.said("after"))
        assert [entry.seq for entry in await store.journal.entries()] == [1, 2]


async def test_what_was_begun_is_finished_and_heard_though_its_writer_is_gone(store: Store) -> None:
    heard: list[tuple[Entry, ...]] = []
    rang, begun, go = asyncio.Event(), threading.Event(), threading.Event()

    def listener(entries: tuple[Entry, ...]) -> None:
        heard.append(entries)
        rang.set()

    def hold(_: sa.Connection) -> None:
        begun.set()
        go.wait()

    store.journal.listeners.append(listener)
    sa.event.listen(store.writer.engine, "commit", hold)
    writing = asyncio.create_task(store.journal.record(scenes.said("gone")))
    await asyncio.to_thread(begun.wait)
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)
    assert writing.cancelled()
    assert not heard
    go.set()
    await rang.wait()
    assert heard == [await store.journal.entries()]


async def test_what_need_not_last_is_written_all_the_same_and_the_next_one_lasts_again(store: Store) -> None:
    def mode(tx: sa.Connection) -> str:
        sqlite = tx.dialect.name == "sqlite"
        return str(tx.exec_driver_sql("PRAGMA synchronous" if sqlite else "SHOW synchronous_commit").scalar_one())

    def note(tx: sa.Connection) -> str:
        tx.execute(leases.insert().values(executor="w1", beat=store.clock.now()))
        return mode(tx)

    kept = await store.writer.write(mode)
    brief = await store.writer.write(note, lasting=False)
    assert (kept, brief) in {("2", "1"), ("on", "off")}
    assert store.counts("leases") == (1,)

    def fail(tx: sa.Connection) -> None:
        tx.execute(leases.delete())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.writer.write(fail, lasting=False)
    assert store.counts("leases") == (1,), "undone as a whole"
    assert await store.writer.write(mode) == kept


@pytest.mark.parametrize("refused", [False, True], ids=["all well", "one refused"])
async def test_what_waits_together_is_committed_together_unless_one_is_refused(store: Store, refused: bool) -> None:
    commits: list[int] = []
    begun, go = threading.Event(), threading.Event()

    def hold(_: sa.Connection) -> None:
        begun.set()
        go.wait()
        commits.append(1)

    await store.journal.record(scenes.job("job_1"))
    sa.event.listen(store.writer.engine, "commit", hold)
    first = asyncio.create_task(store.journal.record(scenes.said("a"), key="a"))
    await asyncio.to_thread(begun.wait)
    waiting = [
        asyncio.create_task(store.journal.record(*events, key=key))
        for key, *events in (
            ("b", scenes.said("b")),
            (
                "c",
                scenes.said("c"),
                scenes.job("job_2", of="prj_1" if refused else "other"),
            ),  # one job for each project
            ("d", scenes.said("d")),
            ("b", scenes.said("b")),
        )
    ]
    await asyncio.sleep(0)  # each has handed its work over
    go.set()
    told = await asyncio.gather(first, *waiting, return_exceptions=True)
    seqs = [Stale if isinstance(one, Stale) else [entry.seq for entry in one] for one in told]  # type: ignore[union-attr]
    keys = [entry.key for entry in await store.journal.entries()][1:]
    if refused:
        assert seqs == [[2], [3], Stale, [4], [3]], "a refused write undoes only itself"
        assert keys == ["a", "b", "d"]
    else:
        assert seqs == [[2], [3], [4, 5], [6], [3]]
        assert keys == ["a", "b", "c", "c#1", "d"]
        assert len(commits) == 2, "one for what held the line, one for all that waited"


async def test_queued_work_waits_for_what_others_write(store: Store) -> None:
    begun, go = threading.Event(), threading.Event()

    def hold(_: sa.Connection) -> None:
        begun.set()
        go.wait()

    async def queued(text: str) -> None:
        in_background.set(True)
        await store.journal.record(scenes.said(text), key=text)

    commits: list[int] = []
    held = asyncio.create_task(store.writer.write(hold))
    await asyncio.to_thread(begun.wait)
    sa.event.listen(store.writer.engine, "commit", lambda _: commits.append(1))
    later = [asyncio.create_task(queued(text)) for text in ("a", "b")]
    await asyncio.sleep(0)
    first = asyncio.create_task(store.journal.record(scenes.said("c"), key="c"))
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(held, first, *later)
    assert [entry.key for entry in await store.journal.entries()] == ["c", "a", "b"]
    assert len(commits) == 2, "what a person waits for is not committed with work that can wait"


def test_connections_of_one_process_write_in_the_order_they_came(sqlite_url: str) -> None:
    writers = [open_for_engine(sqlite_url), open_sync_writer(sqlite_url)]
    wrote: list[str] = []

    def write(engine: sa.Engine, name: str) -> None:
        with engine.begin() as tx:
            tx.execute(leases.insert().values(executor=name, beat=datetime(2026, 3, 1, tzinfo=UTC)))
            wrote.append(name)

    def waiting(count: int) -> bool:
        return write_turns(sqlite_url).waiting == count

    with writers[1].begin() as tx:
        tx.execute(leases.delete())
        threads = []
        for number in range(6):
            name = str(number)
            threads.append(threading.Thread(target=write, args=(writers[number % 2], name)))
            threads[-1].start()
            processes.wait_until(partial(waiting, number + 1), "it waits")
    for thread in threads:
        thread.join()
    assert wrote == ["0", "1", "2", "3", "4", "5"]
    for engine in writers:
        engine.dispose()
