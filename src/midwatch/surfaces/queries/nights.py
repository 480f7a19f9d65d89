"""Reads of the night: orders, nights, runs, entries of the journal."""

import asyncio
import contextlib

from midwatch.compose.read_side import ReadSide
from midwatch.evening import sign_orders
from midwatch.evening.orders_file import EXAMPLE
from midwatch.evening.shown_sheet import sheet_hash
from midwatch.journal.entry import Entry
from midwatch.surfaces.queries.names import names_of
from midwatch.surfaces.queries.reads import LONGEST_WAIT, Page, PageSize, Place, PlainText, ReadTable, fields
from midwatch.terms.records import ActRow, CheckInRow, NoticeRow, RunRow, SessionRow
from midwatch.terms.term import Term
from midwatch.views.entries.describe import describe
from midwatch.views.entries.tags import MILESTONES
from midwatch.views.text.names import Names

READS = ReadTable()


class SessionWhole(SessionRow):
    """A night with its acts, runs, check-ins and notices."""

    acts: tuple[ActRow, ...]
    runs: tuple[RunRow, ...]
    check_ins: tuple[CheckInRow, ...]
    notices: tuple[NoticeRow, ...]


class DraftShown(SessionRow):
    """A draft, and the hash that a signature names."""

    shown_hash: str
    """Of exactly these orders, and of what their projects and the settings add to them now."""


class EntryShown(Term):
    """One entry of the journal in words."""

    seq: int
    at: str
    actor: str
    because: tuple[int, ...]
    kind: str
    job: str
    text: str
    milestone: bool
    """Whether a person follows a night by it; all others are Midwatch's own steps."""


@READS.at("/orders/example")
async def example() -> PlainText:
    """Return an example file."""
    return PlainText(EXAMPLE)


@READS.at("/orders")
async def orders(house: ReadSide) -> DraftShown:
    """Show the draft that waits to be signed."""
    return await draft_shown(house, await sign_orders.current_draft(house.records))


async def draft_shown(house: ReadSide, draft: SessionRow) -> DraftShown:
    shown = await sheet_hash(house.records, house.loaded.settings, draft.orders)
    return DraftShown(**fields(draft), shown_hash=shown)


@READS.at("/sessions")
async def sessions(house: ReadSide, page: Page) -> list[SessionRow]:
    """List the nights, drafts and commands, the oldest first; a page continues after a place in this list."""
    placed = page.by(list(enumerate(await house.records.find(SessionRow), 1)), lambda one: one[0])
    return [row for _, row in placed]


@READS.at("/sessions/{name}")
async def session(house: ReadSide, name: str) -> SessionWhole:
    """Show one night by its number, or any session by its id, with its acts, check-ins and notices."""
    records = house.records
    row = await records.get(SessionRow, name)
    return SessionWhole(
        **fields(row),
        acts=await records.find(ActRow, session=row.id),
        runs=await records.find(RunRow, session=row.id),
        check_ins=await records.find(CheckInRow, session=row.id),
        notices=await records.find(NoticeRow, session=row.id),
    )


@READS.at("/runs")
async def runs(house: ReadSide, page: Page) -> list[RunRow]:
    """List the runs with their scores."""
    return page.of(await house.records.find(RunRow))


@READS.at("/entries")
async def entries(house: ReadSide, after: Place = 0, limit: PageSize = 200, wait: float = 0) -> list[EntryShown]:
    """Read the journal after an entry; with `wait`, wait until there is a new one."""
    page = await house.journal.entries(after=after, limit=limit)
    if not page and wait > 0:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(wait, LONGEST_WAIT)):
                async for _ in house.journal.tail(after=after):
                    break
        page = await house.journal.entries(after=after, limit=limit)
    names = await names_of(house, page)
    return [_entry(entry, names) for entry in page]


def _entry(entry: Entry, names: Names) -> EntryShown:
    return EntryShown(
        seq=entry.seq,
        at=entry.at.isoformat(),
        actor=entry.actor,
        because=entry.because,
        kind=entry.event.kind,
        job=str(getattr(entry.event, "job", "")),
        text=describe(entry.event, names),
        milestone=entry.event.kind in MILESTONES,
    )
