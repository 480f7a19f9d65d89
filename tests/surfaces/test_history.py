"""A window of the journal reads as in the whole: names from records, `why` from what matters, replay in pages."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio

from midwatch.compose.house import House
from midwatch.errors import Unknown
from midwatch.journal.entry import Entry
from midwatch.morning import review as verdicts
from midwatch.surfaces.queries.names import names_of
from midwatch.surfaces.queries.replay import every_entry, replay_page
from midwatch.surfaces.queries.why import why_advice, why_entry
from midwatch.terms.records import ReportRow, SessionRow
from midwatch.terms.report import Review
from midwatch.views.entries.advice import why_recommendation
from midwatch.views.entries.describe import describe
from midwatch.views.entries.replay import rows
from midwatch.views.entries.tags import Tag
from midwatch.views.entries.why import why
from tests.nights.house import a_house, orders, sample_repository
from tests.views.learned_names import LearnedNames, names_after

pytestmark = pytest.mark.asyncio(loop_scope="module")
GIVEN = Review(usefulness=4, trust=4, brevity=4)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """Two nights, reviewed and not, with a command of a person between them."""
    folder: Path = tmp_path_factory.mktemp("history")
    async with a_house(folder / "home", flags={"server.time_zone": "Asia/Tokyo"}) as opened:
        await opened.project(sample_repository(folder / "sample"))
        for title in ("Tidy up", "Tidy up again"):
            await opened.begin(orders(title))
            await opened.to_the_brief()
            await opened.settle()
            (night,) = [row for row in await opened.house.records.find(SessionRow) if row.state == "debrief"]
            await verdicts.submit(opened.house.books, GIVEN, by="ann", night=night.id)
            await opened.settle()
        yield opened.house


def known_after(entries: Iterable[Entry]) -> LearnedNames:
    """The names that a reader of all of it knows, in Tokyo."""
    return names_after(entries).model_copy(update={"to_local": lambda at: at.astimezone(ZoneInfo("Asia/Tokyo"))})


async def whole(house: House) -> tuple[Entry, ...]:
    return await every_entry(house)


async def test_an_entry_is_told_on_the_persons_clock(house: House) -> None:
    (first, *_) = [entry for entry in await whole(house) if entry.event.kind == "session.started"]
    assert describe(first.event, await names_of(house, [first])).endswith("1 item, until 16:00 at the latest")
    assert describe(first.event).endswith("1 item, until 07:00 UTC at the latest")


async def test_names_from_records_are_those_a_reader_of_the_whole_would_know(house: House) -> None:
    entries = await whole(house)
    known = known_after(entries)
    assert {"night", "run", "job", "ask", "pull request"} <= known.counts.keys()
    for entry in entries:
        names = await names_of(house, [entry])
        assert describe(entry.event, names) == describe(entry.event, known)
        assert names.sessions.items() <= known.sessions.items()


async def test_every_entry_is_explained_as_if_all_history_had_been_read(house: House) -> None:
    entries = await whole(house)
    names = known_after(entries)
    assert len(entries) > 100
    for entry in entries:
        _, told = await why_entry(house, entry.seq)
        assert told == why(entry.seq, entries, names)
    with pytest.raises(Unknown, match="no entry 999999"):
        await why_entry(house, 999_999)


async def test_every_recommendation_is_explained_as_if_all_history_had_been_read(house: House) -> None:
    entries = await whole(house)
    names = known_after(entries)
    advice = [one.id for row in await house.records.find(ReportRow) for one in row.recommendations]
    assert advice
    for name in advice:
        assert await why_advice(house, name) == why_recommendation(entries, name, names)
    with pytest.raises(Unknown, match="No brief has"):
        await why_advice(house, "rec_none")


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("tag", [None, "decisions", "errors"])
async def test_pages_laid_end_to_end_are_the_whole_replay(house: House, tag: Tag | None, size: int) -> None:
    entries = await whole(house)
    tags: frozenset[Tag] = frozenset({tag}) if tag else frozenset()
    assert await paged(house, "", tag, size) == list(rows(entries, known_after(entries), tags=tags))


async def test_a_night_begins_where_it_was_opened_and_ends_where_it_ended(house: House) -> None:
    entries = await whole(house)
    for night in await house.records.find(SessionRow):
        own = [one for one in entries if night.created_at <= one.at <= (night.ended_at or one.at)]
        shown = [row.seq for row in await paged(house, str(night.number), None, 50) if hasattr(row, "seq")]
        assert shown == [one.seq for one in own]


async def paged(house: House, night: str, tag: Tag | None, size: int) -> list[Any]:
    found: list[Any] = []
    after = 0
    while True:
        page = await replay_page(house, night=night, tag=tag, after=after, limit=size)
        assert sum(hasattr(row, "seq") for row in page.rows) <= size
        found += page.rows
        if page.next is None:
            return found
        assert page.next > after
        after = page.next
