"""Every text on the morning's page, replaced by every payload, stays text."""

from enum import Enum
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from midwatch.surfaces.web.pages import morning
from midwatch.surfaces.web.site.page import fragment
from midwatch.surfaces.web.site.safe import TAGS
from midwatch.terms.jobs import CheckResult, Proof
from midwatch.terms.term import Term
from midwatch.views.pages.morning_page import MorningPage
from tests.surfaces.payloads import ALL
from tests.surfaces.test_morning_page import RATED, a_night, client

OURS = frozenset({"id", "state", "report", "level", "before", "after", "proven", "authority"})
"""Never written by anyone but us: names of rows, states, words of our own."""


class Structure(HTMLParser):
    """The elements of a page with the names of their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: set[tuple[str, tuple[str, ...]]] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add((tag, tuple(name for name, _ in attrs)))


def poisoned(value: Any, text: str) -> Any:
    """The same value with every text in it replaced."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return text
    if isinstance(value, tuple):
        return tuple(poisoned(one, text) for one in value)
    if isinstance(value, Term):
        fields = {name: poisoned(one, text) for name, one in value if name not in OURS}
        return value.model_copy(update=fields)
    return value


async def test_no_text_anywhere_on_the_page_becomes_more_than_text(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, client(house) as web:
        before, _ = await morning._page(house.house, "")
        await web.post("/morning/merge/1")
        await web.post("/morning/review", data=RATED | {"flag": "unsafe", "notes": "n"})
        after, _ = await morning._page(house.house, "")
        allowed = {(tag, ()) for tag in TAGS} | {("a", ("href", "rel")), ("a", ("rel",)), ("ol", ("start",))}
        for shown in (before, after):
            calm = Structure(_drawn(shown, "calm")).seen
            for text in ALL:
                html = _drawn(shown, text)
                assert Structure(html).seen - calm <= allowed, text
                assert not set(html) & set("\u202e\u200b\u2066\x1b\u3164\U000e0041"), text


def _drawn(shown: MorningPage, text: str) -> str:
    page = poisoned(shown, text)
    diffs = {item.id: "" for item in shown.items}
    nights = (("1", "Night 1"), ("2", "Night 2"))
    return fragment("_morning.html", morning=page, asked="nothing", nights=nights, diffs=diffs, fresh=True)


def test_what_a_check_printed_is_shown_as_text_in_which_nothing_hides() -> None:
    def drawn(text: str) -> str:
        check = CheckResult(command=text, exit_code=1, tail=f"{text}\n{text}")
        return fragment("_proof.html", proof=Proof(verdict="still_red", delivered=(check,)))

    calm = Structure(drawn("calm")).seen
    for text in ALL:
        html = drawn(text)
        assert Structure(html).seen == calm, text
        assert not set(html) & set("\u202e\u200b\u2066\x1b\u3164\U000e0041"), text
    assert "<code>make test</code>" in drawn("make\n\n\ttest")
    assert "more characters are not shown." in drawn("x" * 200_000)
