"""People read names and numbers: no sentence, page or notice shows an id."""

import re
from collections.abc import AsyncIterator, Iterable
from html.parser import HTMLParser
from pathlib import Path

from midwatch.compose.house import House
from midwatch.evening import projects as by_day
from midwatch.surfaces.queries.replay import every_entry
from midwatch.terms.orders import OrderedWork
from midwatch.terms.projects import Flag
from midwatch.terms.records import ActRow, AskRow, JobRow, NoticeRow, PullRequestRow, ReportRow, SessionRow
from midwatch.terms.trust import Level
from midwatch.views.entries.describe import describe
from tests.nights.house import TestHouse, a_house, orders, sample_repository
from tests.surfaces.visitor import Visitor, visiting, welcome
from tests.views.learned_names import names_after

ID = re.compile(r".{,60}(?<!agent/)(?<!checkouts/)(?<!Midwatch-Job: )\b[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}\b.{,60}")
"""An id with the words around it, except in the name of a branch or folder and in a trailer for programs."""
PAGES = ("/tonight", "/tonight/ready", "/live", "/morning", "/jobs/1", "/jobs/2", "/jobs/1/kept", "/jobs/1/now")


def ids_in(texts: Iterable[str]) -> list[str]:
    """Find the places that show an id."""
    return [found for text in texts for found in ID.findall(text)]


class Text(HTMLParser):
    """The text of a page; what links and forms carry is not read by people."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.hidden = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden += tag in {"script", "style"}
        self.parts += [value for name, value in attrs if name in {"title", "aria-label", "placeholder"} and value]

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in {"script", "style"}

    def handle_data(self, data: str) -> None:
        self.parts += [] if self.hidden else [data]


async def test_after_a_night_nothing_that_people_read_shows_an_id(tmp_path: Path) -> None:
    """Work that is done and work that is refused, in two projects."""
    async with a_house(tmp_path / "home") as house:
        await _night(house, tmp_path)
        said = await _said(house.house)
        async with visiting(house.house) as visitor:
            await welcome(house.house, visitor)
            shown = [text async for text in _pages(visitor, house.house)]
        assert ids_in((*said, *shown)) == []


async def _night(house: TestHouse, folder: Path) -> None:
    await house.project(sample_repository(folder / "sample"))
    await house.project(sample_repository(folder / "other"), name="other", checks=("false",))
    work = (OrderedWork(project="sample", title="Tidy up"), OrderedWork(project="sample", title="Tidy again"))
    more = (OrderedWork(project="other", title="Fix it"),)
    await house.begin(orders(level=Level.MODERATE).model_copy(update={"work": (*work, *more)}))
    await by_day.flag_project(house.house.books, "other", Flag.BLOCKED, on=True, by="ann")
    await house.to_the_brief()
    await house.settle()


async def _said(house: House) -> list[str]:
    """Every sentence in the records and in the journal's words."""
    find, entries = house.records.find, await every_entry(house)
    names = names_after(entries)
    acts = await find(ActRow)
    assert "gate.blocked" in {reason.code for act in acts for reason in act.verdict.reasons}
    texts = [describe(entry.event, names) for entry in entries]
    texts += [reason.text for act in acts for reason in act.verdict.reasons]
    texts += [row.text for row in await find(NoticeRow)]
    texts += [f"{ask.question} {ask.rationale} {ask.recommendation} {ask.answer_text}" for ask in await find(AskRow)]
    texts += [f"{row.title}\n{row.body}" for row in await find(PullRequestRow)]
    texts += [str(row.brief) for row in await find(ReportRow)]
    texts += [
        " ".join((one.text, one.ask, *one.tradeoffs)) for row in await find(ReportRow) for one in row.recommendations
    ]
    texts += [f"{row.title} {row.why} {row.approved_by}" for row in await find(JobRow)]
    texts += [row.reason for row in await find(SessionRow)]
    return texts


async def _pages(visitor: Visitor, house: House) -> AsyncIterator[str]:
    last = await house.records.head()
    for path in (*PAGES, *(f"/why/{seq}" for seq in range(1, last + 1))):
        answer = await visitor.get(path)
        assert answer.status_code == 200, path
        for part in Text(answer.text).parts:
            yield f"{path}: {part}"
