"""One day as a new user has it, with nothing but a browser: link, project, orders, night, kill -9, review, merge."""

import re

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import SHOTS, Householder, shot
from tests.nights.house import CHECK, git, sample_repository
from tests.patience import PATIENCE_MS

PASSWORD = "a quiet night of work"
NAMED = """() => {
  const box = document.querySelector("#timeline .scroller").getBoundingClientRect();
  const names = [...document.querySelectorAll("#timeline .names text")].map((one) => one.getBoundingClientRect());
  return names.length > 0 && names.every((one) => one.left >= box.left - 1 && one.right <= box.right);
}"""
SIZES = {"wide": (1280, 900), "phone": (390, 844)}
EXPECTED = ("ERR_", "Failed to load resource", "htmx:sse:error", *(["Applying inline style"] if SHOTS else []))
"""What a browser says while we kill the server under it, and what Playwright itself causes when it takes pictures."""


class Watched:
    """A browser tab whose every request, error and message is looked at."""

    def __init__(self, browser: Browser, address: str, size: str) -> None:
        width, height = SIZES[size]
        self.context: BrowserContext = browser.new_context(
            viewport={"width": width, "height": height}, timezone_id="Asia/Tokyo", reduced_motion="reduce"
        )
        self.context.set_default_timeout(PATIENCE_MS)
        self.page: Page = self.context.new_page()
        self.strangers: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda asked: self._asked(asked.url, address))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self._said(said.type, said.text))

    def _asked(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:")):
            self.strangers.append(url)

    def _said(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"} and not any(words in text for words in EXPECTED):
            self.complaints.append(text)


@pytest.mark.parametrize("size", ["wide", pytest.param("phone", marks=pytest.mark.sweep)])  # test_looks acts on a phone
def test_a_whole_day_in_the_browser(browser: Browser, ann: Householder, size: str) -> None:
    source = sample_repository(ann.repo)
    link = ann.starts()
    address = link.partition("/welcome")[0]
    watched = Watched(browser, address, size)
    page = watched.page
    try:
        enters(page, link)
        signs_orders(page, str(source), size)
        watches(page, ann, size)
        reviews(page, size)
    finally:
        shot(page, f"last-{size}")
        watched.context.close()
    assert "import os" not in (source / "sample/greet.py").read_text(), "merged into the person's own checkout"
    assert git(source, "status", "--porcelain") == ""
    assert watched.strangers == []
    assert watched.complaints == []
    assert ann.types("doctor", "--invariants", "--json").json["ok"]
    assert ann.types("doctor", "--verify", "--json").json["ok"]


def enters(page: Page, link: str) -> None:
    """The first link makes the owner's login; a second browser would find it used up."""
    page.goto(link)
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(link.partition("/welcome")[0] + "/tonight")


def signs_orders(page: Page, path: str, size: str) -> None:
    """From an empty house to a started night."""
    expect(page.get_by_role("button", name="Sign and start the night")).to_be_disabled()
    shot(page, f"tonight-empty-{size}")
    page.get_by_label("Folder on this machine").fill("/nowhere/at/all")
    page.get_by_role("button", name="Add the project").click()
    expect(page.get_by_text("/nowhere/at/all").first).to_be_visible()
    page.get_by_label("Folder on this machine").fill(path)
    page.get_by_label("Checks").fill(CHECK)
    page.get_by_role("button", name="Add the project").click()
    expect(page.get_by_text("1 project: ")).to_be_visible()
    page.get_by_label("Goals").fill("Keep the code tidy without changing what it does")
    page.get_by_label("What to do").fill("Tidy up")
    page.get_by_role("button", name="Save draft").click()
    sign = page.get_by_role("button", name="Sign and start the night")
    expect(sign).to_be_enabled()
    shot(page, f"tonight-sheet-{size}")
    sign.click()
    expect(page).to_have_url(page.url.partition("/tonight")[0] + "/live")


def watches(page: Page, ann: Householder, size: str) -> None:
    """The stream survives a killed server; the plan waits for a yes; nothing is missed and nothing shown twice."""
    ask = page.locator("details.ask").first
    expect(ask).to_be_visible()
    expect(page).to_have_title(re.compile(r"^\(1\) "))
    shot(page, f"live-ask-{size}")
    assert page.evaluate(NAMED), "the lanes of the picture have their names beside them, however narrow the page is"
    ann.kills()
    expect(page.get_by_text("Connection lost")).to_be_visible()
    shot(page, f"live-lost-{size}")
    ann.starts()
    expect(page.get_by_text("Connection lost")).to_be_hidden()
    ask.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("is over").first).to_be_visible()
    expect(page.get_by_role("link", name="Review the results")).to_be_visible()
    # At one moment: rows still arrive at the top, and a row asked for by its place would by then be another row.
    places: list[int] = page.locator("#feed > li").evaluate_all("rows => rows.map(row => Number(row.dataset.seq))")
    assert places == sorted(set(places), reverse=True), "a double"
    newest = places[:60]
    assert newest == list(range(newest[0], newest[-1] - 1, -1)), "a gap"
    shot(page, f"live-over-{size}")
    page.get_by_role("region", name="Jobs").get_by_role("link").first.click()
    expect(page.locator("main")).to_contain_text("housekeeper")
    shot(page, f"job-{size}")
    page.goto(page.url.partition("/jobs")[0] + "/morning")


def reviews(page: Page, size: str) -> None:
    """Read, judge and merge with the keyboard alone."""
    items = page.locator("article.item")
    expect(items.first).to_be_visible()
    shot(page, f"morning-{size}")
    reach(page, "Merge into main")
    page.keyboard.press("Enter")
    expect(page.get_by_text("is merged into")).to_be_visible()
    page.keyboard.press("a")
    for _ in range(items.count() - 1):
        page.keyboard.press("j")
        page.keyboard.press("r")
        page.keyboard.type("not tonight")
        page.keyboard.press("Escape")
    expect(page.get_by_text(f"{items.count()} of {items.count()} verdicts given")).to_be_visible()
    for name in ("usefulness", "trust", "brevity"):
        page.locator(f"input[name={name}]").first.focus()
        for _ in range(3):
            page.keyboard.press("ArrowRight")
    reach(page, "Submit the review")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Your verdict: accepted")).to_be_visible()
    shot(page, f"morning-reviewed-{size}")


def reach(page: Page, name: str) -> None:
    """Go with the Tab key until a button has the focus."""
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement?.textContent?.trim()") == name:
            return
    raise AssertionError(f"the keyboard never reached {name!r}")
