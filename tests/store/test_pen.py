"""The line for writing: lost, shared and cancelled, and still each entry is written once and heard once."""

import asyncio
import threading

import pytest
import sqlalchemy as sa

from midwatch.journal.entry import Entry
from midwatch.store.schema.migrate import migrate
from midwatch.store.schema.tables import leases
from tests.store import scenes
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

    migrate(postgres_url)
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
    sa.event.listen(store.pen.engine, "commit", hold)
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

    kept = await store.pen.write(mode)
    brief = await store.pen.write(note, lasting=False)
    assert (kept, brief) in {("2", "1"), ("on", "off")}
    assert store.counts("leases") == (1,)

    def fail(tx: sa.Connection) -> None:
        tx.execute(leases.delete())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.pen.write(fail, lasting=False)
    assert store.counts("leases") == (1,), "undone as a whole"
    assert await store.pen.write(mode) == kept
