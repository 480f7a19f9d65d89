"""The event stream on a real server: none lost, none doubled, in order, whoever comes and goes."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from midwatch.surfaces.web.stream.feed import wants_html
from tests.nights.house import a_house
from tests.patience import PATIENCE
from tests.store import processes, scenes, writers
from tests.store.processes import CONTEXT
from tests.surfaces.viewers import HTMX, Served, Viewer, streaming, viewing

CROWD, STORM = 500, 40


@pytest.fixture
async def served(tmp_path: Path, database_url: str) -> AsyncIterator[Served]:
    async with asyncio.timeout(PATIENCE), a_house(tmp_path / "h", database_url) as made, streaming(made.house) as one:
        yield one


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[Served]:
    async with asyncio.timeout(PATIENCE), a_house(tmp_path / "h") as made, streaming(made.house) as one:
        yield one


def rows(viewer: Viewer) -> list[int]:
    """The rows a page got, in order."""
    return [int(seq) for one in viewer.told if not one.event for seq in re.findall(r"<p>(\d+)</p>", one.data)]


def resting(served: Served) -> Callable[[], Awaitable[bool]]:
    """Whether the feed has stopped listening: only the house itself is left."""

    async def rests() -> bool:
        return served.house.journal.listeners == [served.house.heard]

    return rests


async def test_a_reader_at_any_cut_point_misses_nothing_and_sees_nothing_twice(served: Served) -> None:
    first = await served.record(6)
    total = first + 24
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        recording = group.create_task(served.record(24))
        looking: list[tuple[int, str, Viewer]] = []
        for cut in range(first + 12):
            accept = (HTMX, "application/json")[cut % 2]
            await served.house.journal.entries(limit=1)  # recording goes on meanwhile
            if cut <= await served.house.records.head():
                look = viewing(served.port, accept=accept, last=str(cut), greeted=False)
                looking.append((cut, accept, await stack.enter_async_context(look)))
        await recording
        for cut, accept, viewer in looking:
            got = rows if accept == HTMX else lambda one: one.seqs
            await viewer.until(lambda one, got=got: total in got(one))  # type: ignore[misc]
            assert got(viewer) == list(range(cut + 1, total + 1)), (cut, accept)
    assert len(looking) > first


async def test_what_another_process_records_arrives_in_order_with_our_own(served: Served) -> None:
    async with viewing(served.port) as viewer, viewing(served.port, accept=HTMX) as page:
        go = CONTEXT.Event()
        child = processes.start(writers.write, served.house.url, 0, 6, go)
        go.set()
        while child.is_alive():
            await served.record(1)
        assert processes.finish(child) == 0
        last = await served.house.records.head()
        await viewer.until(lambda one: last in one.seqs)
        await page.until(lambda one: last in rows(one))
        assert viewer.seqs == rows(page) == list(range(1, last + 1))


async def test_a_page_that_was_read_before_we_told_of_its_newest_row_does_not_get_it_again(served: Served) -> None:
    async with viewing(served.port):
        go = CONTEXT.Event()
        child = processes.start(writers.write, served.house.url, 0, 3, go)
        go.set()
        while (newest := await served.house.records.head()) < 3:
            pass
        async with viewing(served.port, accept=HTMX, last=str(newest), greeted=False) as page:
            assert await asyncio.to_thread(processes.finish, child) == 0
            last = await served.record(1)
            await page.until(lambda one: last in rows(one))
            assert rows(page) == list(range(newest + 1, last + 1))


async def test_five_hundred_viewers_are_told_everything_once_and_in_order(small: Served) -> None:
    async with AsyncExitStack() as stack:
        crowd = [await stack.enter_async_context(viewing(small.port, greeted=False)) for _ in range(CROWD)]
        for one in crowd:
            await one.until(lambda viewer: viewer.told)
        last = await small.record(STORM)
        for one in crowd:
            await one.until(lambda viewer: viewer.told[-1].id == str(last))
        assert all(one.seqs == list(range(1, STORM + 1)) for one in crowd)


async def test_a_slow_reader_is_let_go_and_is_caught_up_when_it_comes_back(tmp_path: Path) -> None:
    fat = 300_000
    async with (
        asyncio.timeout(PATIENCE),
        a_house(tmp_path / "h") as made,
        streaming(made.house, ping_seconds=0.001, padding=fat) as served,
        viewing(served.port) as quick,
        viewing(served.port, accept=HTMX) as slow,
    ):
        await served.record(1)
        await slow.until(rows)  # the rest may come in one piece, of which it gets nothing whole
        slow.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        slow.transport.pause_reading()
        for _ in range(30):  # more than any socket holds
            await served.record(1)
        await quick.until(lambda one: one.seqs and one.seqs[-1] == 31)
        so_far = len(quick.told)
        await quick.until(lambda one: len(one.told) > so_far + 300)
        slow.transport.resume_reading()
        await slow.over()
        last = await served.record(3)
        assert 0 < len(rows(slow)) < 31
        seen, where = rows(slow), slow.told[-1].id
        while last not in seen:  # on a busy machine it may be slow again, and be let go again
            async with viewing(served.port, accept=HTMX, last=where) as back:
                await back.until(lambda one: last in rows(one) or one.finished)
            assert rows(back), "each return must bring it further"
            seen, where = seen + rows(back), back.told[-1].id
        assert seen == list(range(1, last + 1))


async def test_a_program_is_greeted_with_the_place_and_may_ask_for_another(small: Served) -> None:
    await small.record(5)
    async with viewing(small.port) as now, viewing(small.port, "/events?after=2") as later:
        assert now.told[0].json == {"type": "connected", "seq": 5}
        assert now.told[0].id == "5"
        assert later.told[0].json == {"type": "connected", "seq": 2}
        await later.until(lambda one: len(one.seqs) == 3)
        assert later.seqs == [3, 4, 5]
    async with viewing(small.port, "/events?after=2", last="4") as resumed:
        assert resumed.told[0].id == "4", "the header is newer than the page's address"
    for strange in ("400", "9" * 30, "soon"):
        async with viewing(small.port, last=strange) as lost:
            assert lost.told[0].id == "5", strange
            await small.house.journal.entries()
    async with viewing(small.port, "/events?after=-1", greeted=False) as wrong:
        await wrong.until(lambda one: one.head)
        assert " 422 " in wrong.head.splitlines()[0]


async def test_a_page_is_greeted_by_name_so_that_nothing_is_swapped(small: Served) -> None:
    async with viewing(small.port, accept=HTMX) as page:
        assert (page.told[0].event, page.told[0].id) == ("connected", "0")
        for header in ("text/event-stream", "cache-control: no-store", "x-accel-buffering: no"):
            assert header in page.head
        await small.record(3, together=True)
        await page.until(rows)
        assert [(one.id, one.event, one.data) for one in page.told[1:]] == [("3", "", "<p>1</p>\n<p>2</p>\n<p>3</p>")]


async def test_nothing_is_painted_unless_a_page_is_open(small: Served) -> None:
    async with viewing(small.port) as program:
        await small.record(3)
        await program.until(lambda one: len(one.seqs) == 3)
        assert small.painter.painted == []
        async with viewing(small.port, accept=HTMX) as one, viewing(small.port, accept=HTMX) as other:
            await small.record(1)
            await one.until(rows)
            await other.until(rows)
    assert small.painter.painted == [(4,)]


async def test_everybody_hears_a_ping_in_their_own_form(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(PATIENCE),
        a_house(tmp_path / "h") as made,
        streaming(made.house, ping_seconds=0.01) as served,
        viewing(served.port) as program,
        viewing(served.port, accept=HTMX) as page,
    ):
        await program.until(lambda one: any(told.json == {"type": "ping"} for told in one.told))
        await page.until(lambda one: "ping" in one.comments)
        assert not rows(page)


async def test_a_closing_house_ends_every_stream_properly(small: Served) -> None:
    async with AsyncExitStack() as stack:
        looking = [
            await stack.enter_async_context(viewing(small.port, accept=accept))
            for accept in (HTMX, "application/json") * 5
        ]
        small.feed.close()
        small.server.should_exit = True
        await small.serving  # would wait for the whole graceful time-out
        for one in looking:
            await one.over()


async def test_nobody_looking_leaves_nothing_behind_and_the_next_one_begins_at_the_head(small: Served) -> None:
    for round_ in range(1, 4):
        async with viewing(small.port) as viewer:
            assert viewer.told[0].json["seq"] == 2 * (round_ - 1)
            await small.record(1)
            await viewer.until(lambda one: one.seqs)
        await processes.until(resting(small), "the feed rests")
        await small.record(1)


async def test_a_row_that_cannot_be_painted_is_passed_over_and_said(
    small: Served, caplog: pytest.LogCaptureFixture
) -> None:
    async with viewing(small.port, accept=HTMX) as page:
        painting, small.painter.paint = small.painter.paint, None  # type: ignore[assignment,method-assign]
        await small.record(1)
        await page.until(lambda one: len(one.told) == 2)
        assert (page.told[1].event, page.told[1].id) == ("unpainted", "1")
        small.painter.paint = painting  # type: ignore[method-assign]
        await small.record(1)
        await page.until(rows)
        assert rows(page) == [2]
    assert "could not be painted" in caplog.text


@pytest.mark.postgres
async def test_a_lost_line_to_the_database_leaves_no_gap(tmp_path: Path, postgres_url: str) -> None:
    async with (
        asyncio.timeout(PATIENCE),
        a_house(tmp_path / "h", postgres_url) as made,
        streaming(made.house) as served,
        viewing(served.port) as viewer,
        viewing(served.port, accept=HTMX) as page,
        await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as behind,
    ):
        await served.record(2)
        await viewer.until(lambda one: len(one.seqs) == 2)
        cut = await behind.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where query = 'LISTEN journal'"
        )
        assert cut.rowcount >= 1
        await processes.until(resting(served), "the feed has noticed")
        last = await served.record(4)
        await viewer.until(lambda one: last in one.seqs)
        await page.until(lambda one: last in rows(one))
        assert viewer.seqs == rows(page) == list(range(1, last + 1))


async def test_a_message_says_what_the_log_says_with_the_names_people_use(small: Served) -> None:
    record = small.house.journal.record
    await record(scenes.project())
    await record(scenes.brief(), scenes.sign(), scenes.begin())
    async with viewing(small.port, "/events?after=0") as viewer:
        await viewer.until(lambda one: len(one.seqs) == 4)
        told = [one.json for one in viewer.told[1:]]
    assert [one["type"] for one in told] == ["entry", "entry", "entry", "phase"]
    assert [one["session"] for one in told] == ["", scenes.NIGHT, scenes.NIGHT, scenes.NIGHT]
    assert "night 1" in told[3]["text"] or "sample" in told[0]["text"]
    assert all(before["at"] <= after["at"] for before, after in pairwise(told))


@pytest.mark.parametrize(
    ("accept", "html"),
    [
        (HTMX, True),
        ("text/html;q=0.9, text/event-stream", True),
        ("text/event-stream", False),
        ("application/json", False),
        ("application/json, text/html", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_a_page_gets_html_and_a_program_json(accept: str, html: bool) -> None:
    assert wants_html([accept]) is html
