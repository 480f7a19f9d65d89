"""A night, or everything, entry by entry: in pages, so that neither reader nor server holds the whole history."""

from dataclasses import dataclass

from midwatch.compose.read_side import ReadSide
from midwatch.journal.entry import Entry
from midwatch.surfaces.queries.names import names_of
from midwatch.terms.records import SessionRow
from midwatch.views.entries.replay import Gap, Row, rows
from midwatch.views.entries.tags import Tag, tags_of

LOOKED_AT = 2000
"""A filter that finds little reads at most this many entries before it returns what it has."""
WHOLE_PAGE = 1000


@dataclass(frozen=True, slots=True)
class ReplayPage:
    """Some rows, and the entry after which the next page begins; nothing if this is the last."""

    rows: tuple[Row | Gap, ...]
    next: int | None


async def replay_page(house: ReadSide, *, night: str, tag: Tag | None, after: int, limit: int) -> ReplayPage:
    """Read one page of at most `limit` rows."""
    first, last = await _bounds(house, night)
    after = max(after, first - 1)
    entries = await house.history.window(after=after, upto=last, limit=LOOKED_AT if tag else limit)
    before = await house.history.at([after]) if after >= first else ()
    wanted: frozenset[Tag] = frozenset({tag}) if tag else frozenset()
    found = [entry.seq for entry in entries if not tag or tag in tags_of(entry.event)][:limit]
    over = (not entries or entries[-1].seq >= last) and len(found) < limit
    if not over:  # the next page begins after the last row, with the gap that followed it
        reached = found[-1] if found else entries[-1].seq
        entries = tuple(entry for entry in entries if entry.seq <= reached)
    shown = rows(entries, await names_of(house, entries), tags=wanted, since=before[0].at if before else None)
    return ReplayPage(shown, None if over or entries[-1].seq >= last else entries[-1].seq)


async def _bounds(house: ReadSide, night: str) -> tuple[int, int]:
    """Find the first and the last entry of a night, or of the journal."""
    head = await house.records.head()
    if not night:
        return 1, head
    session = await house.records.get(SessionRow, night)
    opened = await house.history.about([session.id], ("session.opened",))
    ended = await house.history.about([session.id], ("session.ended",))
    if not ended:
        return opened[0].seq, head
    together = await house.history.window(after=ended[-1].seq, limit=50)
    same = [entry.seq for entry in together if entry.at <= ended[-1].at]
    return opened[0].seq, max(same, default=ended[-1].seq)


async def every_entry(house: ReadSide, *, kinds: tuple[str, ...] = (), after: int = 0) -> tuple[Entry, ...]:
    """Read the journal from a place to its end, page by page."""
    found: list[Entry] = []
    while page := await house.journal.entries(after=after, limit=WHOLE_PAGE, kinds=kinds):
        found += page
        after = page[-1].seq
    return tuple(found)
