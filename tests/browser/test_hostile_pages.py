"""A house full of hostile words in a real Chromium: nothing runs, nothing breaks, nothing is fetched from elsewhere."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, expect

from midwatch.evening import accounts as door
from midwatch.journal.events import session
from midwatch.surfaces.web.site.app import Site
from midwatch.terms.people import Role
from tests.patience import PATIENCE, PATIENCE_MS
from tests.surfaces.hostile import CORE, Day, Words, a_day, a_house_of, after_a_night, beside_a_night
from tests.surfaces.viewers import served_by

TAGS = "[...new Set([...document.querySelectorAll('*')].map(one => one.localName))]"
STRANGE = "document.querySelectorAll('[onx], [onerror], [onload], [style], iframe, object, img, base, math').length"


@contextmanager
def open_to_browsers(folder: Path, day: Day, *, under_way: bool) -> Iterator[tuple[str, str]]:
    """Serve such a house from a thread of its own; gives its address and a one-time key."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    ready, keys = threading.Event(), list[str]()
    over: list[asyncio.Event] = []
    entries = day.until(session.AskExpired) if under_way else day.entries
    more = beside_a_night(day) if under_way else after_a_night(day)

    async def serve() -> None:
        async with a_house_of(folder, Words(hostile=True), entries, more) as (opened, _):
            over.append(asyncio.Event())
            loops.append(asyncio.get_running_loop())
            keys.append(await door.invite(opened.house.entrance, Role.OWNER, by="midwatch"))
            site = Site(opened.house, port=port)
            async with served_by(site.guarded, listening, site.feed):
                ready.set()
                await over[0].wait()

    loops: list[asyncio.AbstractEventLoop] = []
    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(PATIENCE), "the house never opened"
        yield f"http://127.0.0.1:{port}", keys[0]
    finally:
        if loops:
            loops[0].call_soon_threadsafe(over[0].set)
        thread.join(PATIENCE)


class Watched:
    """A page, and everything that happens on it that should not."""

    def __init__(self, page: Page, home: str) -> None:
        self.page, self.home = page, home
        self.seen: list[str] = []
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.seen.append(f"error {error}"))
        page.on("console", self._said)
        page.on("request", self._request)
        page.on("popup", lambda _: self.seen.append("popup"))

    def _dialog(self, dialog: Dialog) -> None:
        self.seen.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _said(self, said: ConsoleMessage) -> None:
        if said.type in {"error", "warning"}:  # a broken policy is an error here
            self.seen.append(f"{said.type} {said.text}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.home}/", "data:image/svg+xml")):
            self.seen.append(f"request {request.url}")

    def goes(self, path: str) -> None:
        """Open a page, and touch all that opens on it."""
        self.page.goto(f"{self.home}{path}", wait_until="load")
        self.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        self.page.mouse.move(300, 300)
        self.page.keyboard.press("Tab")
        assert self.page.evaluate(STRANGE) == 0, path
        assert "49" not in self.page.title()


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    # In a thread: the browser's own loop stands in this one.
    lived: list[Day] = []
    folder = tmp_path_factory.mktemp("day")
    thread = threading.Thread(target=lambda: lived.append(asyncio.run(a_day(folder))))
    thread.start()
    thread.join(PATIENCE)
    return lived[0]


@pytest.mark.slow
@pytest.mark.parametrize("under_way", [True, False], ids=["under way", "told"])
def test_no_page_of_such_a_house_runs_or_fetches_anything(
    browser: Browser, tmp_path: Path, day: Day, *, under_way: bool
) -> None:
    with open_to_browsers(tmp_path / "home", day, under_way=under_way) as (home, key):
        context = browser.new_context()
        try:
            page = context.new_page()
            watched = Watched(page, home)
            watched.goes(f"/welcome?key={key}")
            page.get_by_label("Name").fill("ann\" onx='1' &amp; {{7*7}}")
            page.get_by_label("Password").fill("a quiet night of work")
            page.get_by_role("button", name="Create login").click()
            for path in ("/live", "/jobs/1", "/morning", "/why/5", "/why/10", "/tonight"):
                watched.goes(path)
            watched.goes("/live")
            if under_way:
                page.evaluate("document.querySelectorAll('details').forEach(one => one.open = false)")
                page.get_by_text("Say", exact=True).click()
                page.get_by_label("Message to the night").fill(f"{CORE}<img src=//x.example/a onerror=alert(1)>")
                page.get_by_role("button", name="Send").click()
                said = page.locator("#feed > li:not(.engine)", has_text="onerror=alert(1)")
                expect(said.first).to_be_visible(timeout=PATIENCE_MS)  # by the stream
            else:
                watched.goes("/tonight")
                page.get_by_role("button", name="Change goals and criteria").click()
                expect(page.get_by_label("Goals", exact=True)).to_be_visible()
            assert page.evaluate(STRANGE) == 0
            assert {"img", "iframe", "object", "embed", "i"}.isdisjoint(page.evaluate(TAGS))
            assert watched.seen == []
            assert page.goto(f"{home}/why/<img src=x onerror=alert(1)>") is not None
            expect(page.get_by_role("heading", level=1)).to_contain_text("<img src=x")
            assert [one for one in watched.seen if "404" not in one] == []
        finally:
            context.close()
