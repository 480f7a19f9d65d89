"""A night of forty works in eight repositories, with a page and a terminal: presses and scrolled pixels are counted."""

import asyncio
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, Locator, Page, expect

from midwatch.compose.house import House
from midwatch.evening import accounts, sign_orders
from midwatch.surfaces.api.app import make_app
from midwatch.surfaces.server import open_socket
from midwatch.surfaces.web.site.app import Site
from midwatch.terms.asks import AskState
from midwatch.terms.people import Role
from midwatch.terms.projects import SessionState
from midwatch.terms.records import AskRow, SessionRow, TimerRow
from midwatch.terms.report import ItemOutcome
from midwatch.terms.trust import Level
from midwatch.views.text.states import ITEM_BECAME
from tests.browser.conftest import SHOTS, shot
from tests.browser.looker import THEMES, WIDTHS
from tests.nights.forty import ANSWERS, BECAME, ITEMS, PROTECTED, SETTINGS, crew, forty_works
from tests.nights.house import TestHouse, a_house, orders
from tests.patience import PATIENCE, PATIENCE_MS
from tests.surfaces.person import Person
from tests.surfaces.viewers import StreamServer, served_by

pytestmark = pytest.mark.sweep


@dataclass
class Lived:
    """A night that goes on in a thread of its own, and stops where it waits for the person."""

    folder: Path
    ready: threading.Event = field(default_factory=threading.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    loop: asyncio.AbstractEventLoop | None = None
    address: str = ""
    key: str = ""
    broke: list[BaseException] = field(default_factory=list)

    def run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:  # noqa: BLE001  told to the test, which would wait for ever
            self.broke.append(error)
        self.ready.set()

    async def _live(self) -> None:
        self.loop = asyncio.get_running_loop()
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        async with a_house(self.folder / "h", agents=crew(), flags=SETTINGS) as house:
            work = await forty_works(house, self.folder)
            drafted = orders(level=Level.FULL, work=work, do_not_touch=(PROTECTED,))
            await sign_orders.draft(house.house.evening, drafted, by="ann")
            self.key = await accounts.invite(house.house.entrance, Role.OWNER, by="midwatch")
            self.address = f"http://127.0.0.1:{port}"
            site = Site(house.house, port=port)
            async with (
                served_by(site.guarded, listening, site.feed),
                _terminals(house.house),
                asyncio.TaskGroup() as group,
            ):
                going = group.create_task(_goes_on(house))
                self.ready.set()
                await self.over.wait()
                going.cancel()

    def ends(self) -> None:
        if self.loop and not self.broke:
            self.loop.call_soon_threadsafe(self.over.set)


@asynccontextmanager
async def _terminals(house: House) -> Any:
    """Serve the API on the socket of the data folder, as `midwatch up` does."""
    config = uvicorn.Config(make_app(house), log_level="warning", lifespan="off")
    server = StreamServer(config)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve(sockets=[open_socket(house.home)]))
        yield
        server.should_exit = True
        await serving


async def _goes_on(house: TestHouse) -> None:
    """Do all that is ready; let time pass only while nobody is asked."""
    find, written = house.house.records.find, asyncio.Event()
    house.house.journal.listeners.append(lambda _: written.set())
    while True:
        written.clear()
        await house.settle()
        if written.is_set():
            continue
        under_way = await find(SessionRow, state=SessionState.AUTONOMOUS)
        if not under_way or await find(AskRow, state=AskState.OPEN):
            await written.wait()
        elif timers := await find(TimerRow):
            house.clock.jump_to(min(row.due_at for row in timers))


@contextmanager
def a_night() -> Iterator[Lived]:
    folder = Path(tempfile.mkdtemp(prefix="mw", dir="/tmp"))
    lived = Lived(folder)
    thread = threading.Thread(target=lived.run)
    thread.start()
    try:
        assert lived.ready.wait(PATIENCE)
        assert not lived.broke, lived.broke
        yield lived
    finally:
        lived.ends()
        thread.join(PATIENCE)
        shutil.rmtree(folder, ignore_errors=True)


class Hand:
    """Presses, and counts what that takes."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.presses = 0
        self.pixels = 0

    def press(self, what: Locator) -> None:
        """Press something; Playwright scrolls only if it must."""
        before = self._at()
        what.click()
        self.presses += 1
        self.pixels += abs(self._at() - before)

    def key(self, key: str) -> None:
        before = self._at()
        self.page.keyboard.press(key)
        self.presses += 1
        self.pixels += abs(self._at() - before)

    def _at(self) -> int:
        return int(self.page.evaluate("Math.round(scrollY)"))

    def took(self) -> str:
        said = f"{self.presses} presses, {self.pixels} px scrolled"
        self.presses = self.pixels = 0
        return said


def test_forty_works_are_signed_answered_and_judged(
    browser: Browser, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MIDWATCH_SHOTS", raising=False)  # not a setting, and this house is in our own process
    with a_night() as lived:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        hand, told = Hand(page), list[str]()
        try:
            signs(page, lived, hand)
            told.append(f"evening: {hand.took()}")
            answered = answers(page, Person(lived.folder), hand)
            told.append(f"night: {hand.took()} for {answered['page']} asks; {answered['terminal']} in the terminal")
            assert sum(answered.values()) == 15
            assert all(answered.values())
            judges(page, hand)
            told.append(f"morning: {hand.took()} for 40 verdicts")
        finally:
            shot(page, "forty-last")
            context.close()
    with capsys.disabled():
        print("\nforty works, " + "; ".join(told))


def looked_at(page: Page, name: str) -> None:
    """Keep pictures of this page as it is now, in both themes and both widths, from a page of its own."""
    if SHOTS is None:
        return
    other = page.context.new_page()
    other.goto(page.url)
    for theme in THEMES:
        other.evaluate("theme => localStorage.setItem('theme', theme)", theme)
        other.reload()
        for width, height in WIDTHS.items():
            other.set_viewport_size({"width": width, "height": height})
            shot(other, f"{name}-{theme}-{width}")
    other.evaluate("localStorage.removeItem('theme')")  # each page has its own again
    other.close()


def signs(page: Page, lived: Lived, hand: Hand) -> None:
    """Read the sheet of forty works, and sign it."""
    page.goto(f"{lived.address}/welcome?key={lived.key}")
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill("a quiet night of work")
    page.keyboard.press("Enter")
    expect(page.locator("#orders-work .items > li")).to_have_count(40)
    looked_at(page, "forty-tonight")
    page.mouse.wheel(0, 900)  # the signature stays beside the sheet
    sign = page.get_by_role("button", name="Sign and start the night")
    expect(sign).to_be_in_viewport()
    hand.press(sign)
    anyway = page.get_by_role("button", name="Sign anyway")
    expect(anyway.or_(page.get_by_role("heading", name="Night 1 is under way"))).to_be_visible()
    if anyway.is_visible():
        hand.press(anyway)
    page.wait_for_url("**/live")


def answers(page: Page, ann: Person, hand: Hand) -> dict[str, int]:
    """Answer what is asked, in turn on the page and in the terminal, until the night is over."""
    counted, asks, over = {"page": 0, "terminal": 0}, page.locator("#asks .ask"), page.get_by_text("Review the results")
    busiest = 0
    while True:
        expect(asks.first.or_(over)).to_be_visible()
        if asks.count() > busiest:
            busiest = asks.count()
            looked_at(page, "forty-live")
        if over.is_visible():
            return counted
        for name in ("Pause", "Say", "Stop"):
            expect(page.locator("#controls").get_by_text(name, exact=True)).to_be_in_viewport()
        expect(page.locator("#asks .ask[open]")).to_have_count(1)
        here = page.locator("#asks .ask[open]")
        others = [one for one in asks.all() if one.get_attribute("open") is None]
        if others:
            keeps(page, ann, here, others[0])
            counted["terminal"] += 1
        errs(here)
        number = here.get_attribute("data-ask") or ""
        if counted["page"] > 2 * counted["terminal"]:
            ann.types("asks", number)  # an answer is for what this terminal has shown
            ann.types("asks", number, said(here.inner_text()))
            expect(page.locator(f"#ask-{number}")).to_have_count(0)
            counted["terminal"] += 1
            continue
        hand.press(here.get_by_role("button", name=said(here.inner_text()).capitalize(), exact=True))
        expect(page.locator(f"#ask-{number}")).to_have_count(0)
        counted["page"] += 1


def errs(here: Locator) -> None:
    """What is refused is said beside what was pressed: to edit a plan without a word is nothing to act on."""
    edit = here.get_by_role("button", name="Edit", exact=True)
    if edit.count():
        edit.click()
        expect(here.locator(".beside")).to_contain_text("Say what should change.")
        expect(here.locator(".beside .problem")).to_be_in_viewport()


def keeps(page: Page, ann: Person, here: Locator, other: Locator) -> None:
    """What a person reads and types stays as it is while another ask is answered in a terminal."""
    number, opened = other.get_attribute("data-ask") or "", here.get_attribute("id")
    question = other.locator(".ask-what").inner_text()
    here.evaluate("one => { one.querySelector('.word').open = true; }")
    here.locator("textarea").fill("words not sent yet")
    before = page.evaluate("scrollY")
    ann.types("asks", number)
    ann.types("asks", number, said(question))
    expect(page.locator(f"#ask-{number}")).to_have_count(0)
    expect(page.locator("#asks .ask[open]")).to_have_attribute("id", opened or "")
    expect(page.locator(f"#{opened} textarea")).to_have_value("words not sent yet")
    assert page.evaluate("scrollY") == before
    page.locator(f"#{opened} textarea").fill("")


def said(question: str) -> str:
    """What the person says to a question about one of the works."""
    (way,) = {way for title, (_, way) in ITEMS.items() if title in question}
    return ANSWERS[way]


def judges(page: Page, hand: Hand) -> None:
    """Every work is in the queue once with what became of it; a verdict on each, by the keyboard."""
    expect(page.locator("#banner")).to_contain_text("27 of 40 delivered as pull requests")
    hand.press(page.get_by_text("Review the results"))
    expect(page.locator("article.item.here")).to_be_visible()
    looked_at(page, "forty-morning")
    hand.press(page.get_by_text("List all"))
    rows = page.locator(".listed li").all_inner_texts()
    for title, (_, way) in ITEMS.items():
        (row,) = [one for one in rows if title in one]
        assert ITEM_BECAME[ItemOutcome(BECAME[way])] in row, row
    missing = [place for place, row in enumerate(rows) if not row.rstrip().endswith(ITEM_BECAME[ItemOutcome.DELIVERED])]
    assert missing[:13] == list(range(13)), "what was not delivered comes first"
    hand.press(page.get_by_text("List all"))
    page.locator("article.item.here").focus()
    for _ in range(40):
        hand.key("d" if "missing" in (page.locator(".place[aria-current]").get_attribute("class") or "") else "a")
    expect(page.get_by_text(f"40 of {len(rows)} verdicts given")).to_be_visible()
    for name in ("usefulness", "trust", "brevity"):
        hand.press(page.locator(f"input[name={name}][value='4']"))
    hand.press(page.get_by_role("button", name="Submit the review"))
    expect(page.get_by_text("What your review changed")).to_be_visible()
    shot(page, "forty-reviewed")
