"""record() beside a bare insert through the same driver and durability; then p99 while the engine works."""

import asyncio
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa
from pydantic import JsonValue

from bench.figure import Figure, p99
from midwatch.compose import Parts, open_house
from midwatch.engine.clocks import SystemClock
from midwatch.engine.inline import InlineEngine
from midwatch.journal.events.session import MessageSaid, NoticeRaised
from midwatch.store.schema.engines import is_sqlite, open_writer
from midwatch.store.schema.tables import journal
from midwatch.terms.asks import Tier
from tests.postgres_server import PostgresUnavailable, throw_away_postgres

COUNT = 400
BATCH = 50
BARE = journal.to_metadata(sa.MetaData(), name="bare")
"""The journal's own columns and indexes, without anything we do around an insert."""


async def run() -> list[Figure]:
    """On SQLite, and on PostgreSQL where there is one."""
    with TemporaryDirectory() as folder:
        figures = [*await _ratio("SQLite", Path(folder) / "a", ""), await _loaded("SQLite", Path(folder) / "b")]
        try:
            with throw_away_postgres() as server, server.database() as url:
                figures += await _ratio("PostgreSQL", Path(folder) / "c", url)
        except PostgresUnavailable as missing:
            print(f"no PostgreSQL: {missing}")
    return figures


def _said(number: int) -> MessageSaid:
    return MessageSaid(message=f"msg_{number}", session="", by="ann", text="words " * 20)


async def _ratio(name: str, home: Path, url: str) -> list[Figure]:
    flags: dict[str, JsonValue] = {"database.url": url} if url else {}
    parts = Parts(clock=SystemClock(), engine=InlineEngine())
    async with open_house(home, flags=flags, parts=parts) as house:
        ours, bare = 0.0, 0.0
        plain = open_writer(house.url) if is_sqlite(house.url) else sa.create_engine(house.pen.engine.url)
        with plain.begin() as tx:
            for index in BARE.indexes:
                index.name = sa.quoted_name(f"bare_{index.name}", quote=None)
            BARE.create(tx, checkfirst=True)
        for batch in range(COUNT // BATCH):
            began = time.perf_counter()
            for i in range(BATCH):
                await house.journal.record(_said(batch * BATCH + i))
            ours += time.perf_counter() - began
            began = time.perf_counter()
            for i in range(BATCH):
                await asyncio.to_thread(_insert, plain, 10**9 + batch * BATCH + i)
            bare += time.perf_counter() - began
        plain.dispose()
    ratio = bare / ours
    figure = Figure(
        f"record() on {name}",
        f"{COUNT / ours:.0f}/s = {ratio:.2f} of bare",
        f"{COUNT / bare:.0f} bare inserts/s",
        "≥ 0.5",
        ratio >= 0.5,
    )
    return [figure]


def _insert(plain: sa.Engine, number: int) -> None:
    with plain.begin() as tx:
        tx.execute(_bare(number))


def _bare(number: int) -> sa.Insert:
    return BARE.insert().values(
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


async def _loaded(name: str, home: Path) -> Figure:
    """Each record queues work that the real engine carries out meanwhile."""
    flags: dict[str, JsonValue] = {"server.queue_poll_seconds": 0.1}
    took = []
    async with open_house(home, flags=flags) as house:
        for number in range(COUNT):
            raised = NoticeRaised(notice=f"ntc_{number}", session="", tier=Tier.ACTION, text="words")
            began = time.perf_counter()
            await house.journal.record(raised)
            took.append(time.perf_counter() - began)
    return Figure(
        f"record() + enqueue on {name}, engine working",
        f"{COUNT / sum(took):.0f}/s, p99 {p99(took) * 1e3:.0f} ms",
        "(stated, no limit)",
        "stated",
        met=True,
    )
