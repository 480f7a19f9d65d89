"""A real server process that kills itself at one journal entry, and its successor that finishes the night."""

import argparse
import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from midwatch.compose.house import House
from midwatch.compose.opening import open_house
from midwatch.evening import projects as by_day
from midwatch.evening import sign_orders
from midwatch.journal.entry import Entry
from midwatch.terms.projects import SessionState
from midwatch.terms.records import NoticeRow, ProjectRow, ReportRow, SessionRow
from tests.nights.house import CHECK, orders

FLAGS: dict[str, Any] = {
    "asks.approve_plan_minutes": 0.01,
    "server.queue_poll_seconds": 0.05,
    "server.lease_seconds": 3.0,
    "jobs.min_free_memory_mib": 64,
    "jobs.min_free_disk_mib": 64,
}


def die() -> None:
    """No farewell."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_after(house: House, seq: int) -> None:
    """Die when the entry is committed and nobody has acted on it yet."""

    def heard(entries: tuple[Entry, ...]) -> None:
        if entries[-1].seq >= seq:
            die()

    house.journal.listeners.insert(0, heard)


def die_after_kind(house: House, kind: str, times: int) -> None:
    """Die when the last of so many entries of a kind is committed and nobody has acted on it yet."""
    heard: list[Entry] = []

    def hear(entries: tuple[Entry, ...]) -> None:
        heard.extend(entry for entry in entries if entry.event.kind == kind)
        if len(heard) >= times:
            die()

    house.journal.listeners.insert(0, hear)


def die_before(house: House, seq: int) -> None:
    """Die with the entry written and not committed."""
    _die_at_commit(house, f"select max(seq) >= {seq} from journal")  # noqa: S608 - ours


def die_before_kind(house: House, kind: str, times: int) -> None:
    """Die with the last of so many entries of a kind written and not committed."""
    _die_at_commit(house, f"select count(*) >= {times} from journal where kind = '{kind}'")  # noqa: S608 - ours


def _die_at_commit(house: House, question: str) -> None:
    def committing(connection: sa.Connection) -> None:
        if connection.exec_driver_sql(question).scalar():
            die()

    sa.event.listen(house.writer.engine, "commit", committing)


async def evening(house: House, source: str, checks: tuple[str, ...]) -> None:
    """What the person does; after a crash only what is missing is done again."""
    if not await house.records.find(ProjectRow):
        await by_day.add_project(house.evening, source, by="ann", name="sample", checks=checks)
    sessions = await house.records.find(SessionRow)
    if not sessions:
        await sign_orders.draft(house.evening, orders("Tidy up"), by="ann")
        sessions = await house.records.find(SessionRow)
    if sessions[-1].state is SessionState.BRIEFING:
        await sign_orders.start(house.evening, by="ann")


async def until_the_brief(house: House) -> None:
    """Wait for the report and for everything that follows from it."""
    async for entry in house.journal.tail(after=0):
        if entry.event.kind == "report.written":
            break
    while True:
        unsent = await house.records.find(ReportRow)
        waiting = [row for row in await house.records.find(NoticeRow) if not row.sent_by and row.tier < 4]
        if unsent and not waiting:
            return
        await asyncio.sleep(0.02)


async def until_entry(house: House, seq: int) -> None:
    """Wait for an entry, then leave in good order, as on SIGTERM."""
    async for entry in house.journal.tail(after=0):
        if entry.seq >= seq or entry.event.kind == "report.written":
            return


async def main(asked: argparse.Namespace) -> None:
    flags = FLAGS | ({"database.url": asked.url} if asked.url else {})
    async with open_house(Path(asked.home), flags=flags) as house:
        if asked.die_after:
            die_after(house, asked.die_after)
        if asked.die_before:
            die_before(house, asked.die_before)
        if asked.at_kind:
            kind, _, times = asked.at_kind.partition(":")
            (die_after_kind if asked.committed else die_before_kind)(house, kind, int(times or 1))
        await evening(house, asked.source, (CHECK,))
        if asked.leave_after:
            await until_entry(house, asked.leave_after)
        else:
            await until_the_brief(house)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("home")
    parser.add_argument("source")
    parser.add_argument("--url", default="")
    parser.add_argument("--die-after", type=int, default=0)
    parser.add_argument("--die-before", type=int, default=0)
    parser.add_argument("--leave-after", type=int, default=0)
    parser.add_argument("--at-kind", default="", help="kind:times")
    parser.add_argument("--committed", action="store_true", help="die after that entry, not before")
    asyncio.run(main(parser.parse_args()))
