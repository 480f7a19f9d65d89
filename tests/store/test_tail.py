"""Many write, others follow: every seq once, in order, none missed, from any process."""

import asyncio

from tests.patience import PATIENCE
from tests.store import processes, scenes, writers
from tests.store.opened import Store
from tests.store.processes import CONTEXT

WRITERS, EACH = 4, 25


async def test_four_writers_leave_no_gap_and_a_follower_sees_each_entry_once(store: Store) -> None:
    await store.journal.record(scenes.said("first"))
    upto = 1 + WRITERS * EACH
    here, there = CONTEXT.Pipe()
    follower = processes.start(writers.follow, store.url, upto, there)
    assert await asyncio.to_thread(here.recv) == "following"
    go = CONTEXT.Event()
    children = [processes.start(writers.write, store.url, who, EACH, go) for who in range(WRITERS)]
    go.set()
    seen = await asyncio.to_thread(here.recv)
    assert [processes.finish(child) for child in (*children, follower)] == [0] * (WRITERS + 1)
    assert seen == list(range(1, upto + 1))
    assert store.counts("journal", "messages") == (upto, upto)
    writers_of_entries = [entry.key.split("-")[0] for entry in await store.journal.entries(after=1)]
    assert all(writers_of_entries.count(str(who)) == EACH for who in range(WRITERS))


async def test_a_follower_starts_where_it_is_told_and_hears_this_process_too(store: Store) -> None:
    await store.journal.record(*(scenes.said(str(i)) for i in range(3)))
    seen: list[int] = []

    async def follow() -> None:
        async for entry in store.journal.tail(after=2):
            seen.append(entry.seq)
            if entry.seq == 5:
                return

    async def write() -> None:
        await processes.until(_seen, "the follower sees what was there")
        await store.journal.record(scenes.said("4"))
        await store.journal.record(scenes.said("5"))

    async def _seen() -> bool:
        return seen == [3]

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        group.create_task(follow())
        group.create_task(write())
    assert seen == [3, 4, 5]


async def test_a_follower_passes_over_what_was_redacted(store: Store) -> None:
    await store.journal.record(*(scenes.said(str(i)) for i in range(3)))
    with store.behind() as connection:
        connection.exec_driver_sql("update journal set payload = null where seq = 2")
    seen = []
    async for entry in store.journal.tail(after=0):
        seen.append(entry.seq)
        if entry.seq == 3:
            break
    assert seen == [1, 3]
