"""record() beside a bare insert through the same driver and durability, in turns: alone, and with its work done."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa
from pydantic import JsonValue

from bench.figure import Figure, median, p99
from midwatch.compose.house import House, Parts
from midwatch.compose.opening import open_house
from midwatch.engine.clocks import SystemClock
from midwatch.engine.inline import InlineEngine
from midwatch.journal.events import Event
from midwatch.journal.events.session import MessageSaid, NoticeRaised
from midwatch.store.schema.engines import is_sqlite, open_writer
from midwatch.store.schema.tables import journal
from midwatch.terms.asks import Tier
from midwatch.terms.records import NoticeRow
from tests.postgres_server import PostgresUnavailable, throw_away_postgres

RECORDS = 600
SHORT, BURST = 10, 50
"""Alone, the turns are short, so that both meet the same moments of a busy disk; with the engine a turn is a burst."""
HISTORY = 20_000
ALONE, AT_WORK, LONGEST, GROWTH = 0.5, 0.25, 20.0, 1.5
LASTING = {"fsync": "on", "full_page_writes": "on", "autovacuum": "on"}
"""PostgreSQL as it is installed: the tests' server does not wait for the disk."""
BARE = journal.to_metadata(sa.MetaData(), name="bare")
"""The journal's own columns and indexes, without anything we do around an insert."""


async def run() -> list[Figure]:
    """On SQLite, and on PostgreSQL where there is one."""
    with TemporaryDirectory() as folder:
        figures = await _both("SQLite", Path(folder), {})
        try:
            with throw_away_postgres(**LASTING) as server, contextlib.ExitStack() as made:
                urls = {use: made.enter_context(server.database()) for use in ("alone", "short", "at_work")}
                figures += await _both("PostgreSQL", Path(folder), urls)
        except PostgresUnavailable as missing:
            print(f"no PostgreSQL: {missing}")
    return figures


async def _both(name: str, folder: Path, urls: dict[str, str]) -> list[Figure]:
    """Alone at both lengths of history, then with the engine."""
    async with (
        _without_engine(folder / f"{name}-alone", urls.get("alone")) as house,
        _without_engine(folder / f"{name}-short", urls.get("short")) as short,
    ):
        alone, bare = await _in_turns(house, _said, SHORT)
        grown = await _growth(short, house)
    figures = [
        _share(f"record() on {name}", alone, bare, ALONE),
        Figure(
            "  with a history ten times as long",
            f"{grown:.2f} times",
            f"{HISTORY:,} entries beside {HISTORY // 10:,}",
            f"≤ {GROWTH} times",
            grown <= GROWTH,
        ),
    ]
    async with open_house(folder / f"{name}-at-work", flags=_flags(urls.get("at_work"))) as house:
        loaded, bare = await _in_turns(house, _noticed, BURST)
    insert = sum(bare) / len(bare)
    worst = p99(loaded) / insert
    return [
        *figures,
        _share(f"record() on {name}, its work carried out", loaded, bare, AT_WORK),
        Figure(
            "  p99",
            f"{p99(loaded) * 1e3:.0f} ms = {worst:.0f} times a bare insert",
            f"{insert * 1e3:.1f} ms for a bare insert, p99 {p99(bare) * 1e3:.0f} ms",
            f"≤ {LONGEST:.0f} times",
            worst <= LONGEST,
        ),
    ]


def _without_engine(home: Path, url: str | None) -> AbstractAsyncContextManager[House]:
    return open_house(home, flags=_flags(url), parts=Parts(clock=SystemClock(), engine=InlineEngine()))


def _flags(url: str | None) -> dict[str, JsonValue]:
    return {"database.url": url} if url else {}


def _share(what: str, ours: list[float], bare: list[float], least: float) -> Figure:
    ratio = sum(bare) / sum(ours)
    measured = f"{len(ours) / sum(ours):.0f}/s = {ratio:.2f} of bare"
    return Figure(what, measured, f"{len(bare) / sum(bare):.0f} bare inserts/s", f"≥ {least}", ratio >= least)


def _said(number: int) -> Event:
    return MessageSaid(message=f"msg_{number}", session="", by="ann", text="words " * 20)


def _noticed(number: int) -> Event:
    """What queues work: the engine puts each notice into the log, and records that."""
    return NoticeRaised(notice=f"ntc_{number}", session="", tier=Tier.ACTION, text="words")


async def _in_turns(house: House, event: Callable[[int], Event], turn: int) -> tuple[list[float], list[float]]:
    """A batch of ours, then a batch of bare inserts, each insert by itself; the engine finishes in between."""
    plain = open_writer(house.url) if is_sqlite(house.url) else sa.create_engine(house.writer.engine.url)
    with plain.begin() as tx:
        tx.execute(sa.schema.CreateTable(BARE))
        for index in BARE.indexes:
            tx.execute(sa.text(f"create index bare_{index.name} on bare ({', '.join(c.name for c in index.columns)})"))
    ours: list[float] = []
    bare: list[float] = []
    for first in range(0, RECORDS + BURST, turn):
        for number in range(first, first + turn):
            began = time.perf_counter()
            await house.journal.record(event(number))
            ours.append(time.perf_counter() - began)
        await _finished(house)
        for number in range(first, first + turn):
            began = time.perf_counter()
            await asyncio.to_thread(_insert, plain, number)
            bare.append(time.perf_counter() - began)
    plain.dispose()
    return ours[BURST:], bare[BURST:]  # the first of each filled the caches


async def _finished(house: House) -> None:
    """Wait until the engine has told every notice."""
    while not isinstance(house.parts.engine, InlineEngine) and await house.records.find(NoticeRow, sent_by=""):  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def _growth(short: House, long: House) -> float:
    """At the end of a long history beside the end of one a tenth as long, in turns."""
    lengths = {short: HISTORY // 10, long: HISTORY}
    took: dict[House, list[float]] = {short: [], long: []}
    for house, length in lengths.items():
        while (head := await house.records.head()) < length:
            await house.journal.record(*(_said(10**6 + head + i) for i in range(min(500, length - head))))
    for number in range(10**7, 10**7 + 300):
        for house, times in took.items():
            began = time.perf_counter()
            await house.journal.record(_said(number))
            times.append(time.perf_counter() - began)
    return median(took[long]) / median(took[short])


def _insert(plain: sa.Engine, number: int) -> None:
    with plain.begin() as tx:
        tx.execute(
            BARE.insert().values(
                seq=number,
                at=number,
                actor="ann",
                key=f"bare{number}",
                because="[]",
                kind="message.said",
                payload="{" + "x" * 160 + "}",
                payload_hash="0" * 64,
                chain="0" * 64,
            )
        )
