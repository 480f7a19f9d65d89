"""Every page in every state that matters, in both themes, wide and on a phone: readable, reachable, calm and small."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import Householder, shot
from tests.nights.house import CHECK, sample_repository

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

PASSWORD = "a quiet night of work"
PATIENCE = 30_000
WIDTHS = {1280: 900, 390: 844}
THEMES = ("dark", "light")
MOST_BYTES = 100_000
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
RUN_AXE = """async () => {
  const found = await axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    resultTypes: ["violations"]});
  if (found.passes.length < 5) throw new Error("axe looked at nothing");
  return found.violations.flatMap(v => v.nodes.map(n => `${v.id}: ${n.target} ${n.failureSummary.slice(0, 200)}`));
}"""
# Nothing else may be amber: questions, the one button to press, a mark to look twice at, and what waits for an answer.
AMBER = """() => {
  const allowed = ".ask, .primary, .wanted, .warn, .lane-ask.going, .verdict:not(:has(:checked)) label.accepted";
  const amber = (colour) => {
    const part = /^oklch\\(([\\d.]+) ([\\d.]+) ([\\d.]+)/.exec(colour);
    return part && part[2] >= 0.045 && part[3] >= 45 && part[3] <= 100;
  };
  const said = (one, pseudo) => {
    const style = getComputedStyle(one, pseudo), found = [];
    if (pseudo && style.content === "none") return found;
    const has = pseudo || one.matches("input, path, rect, circle, line") || [...one.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (has && amber(style.color)) found.push("text");
    if (amber(style.backgroundColor)) found.push("background");
    if (one instanceof SVGElement && (amber(style.fill) || amber(style.stroke))) found.push("drawing");
    for (const side of ["Top", "Right", "Bottom", "Left"])
      if (parseFloat(style[`border${side}Width`]) && amber(style[`border${side}Color`])) found.push("border");
    return found;
  };
  const all = [...document.body.querySelectorAll("*")].filter(one => one.checkVisibility());
  const lit = all.filter(one => [null, "::before", "::after"].some(pseudo => said(one, pseudo).length));
  const name = (one) => `${one.tagName.toLowerCase()}.${one.getAttribute("class") ?? ""}`;
  return {lit: lit.length, strays: lit.filter(one => !one.closest(allowed)).map(name)};
}"""
# What the Tab key has to reach; of a group of radio buttons it is one.
REACHABLE = """() => {
  const groups = new Set();
  window.reached = new Set();
  window.wanted = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")].filter(one => {
    if (!one.checkVisibility({visibilityProperty: true}) || one.disabled || one.type === "hidden" || one.tabIndex < 0) return false;
    if (one.type !== "radio") return true;
    const first = !groups.has(one.name);
    groups.add(one.name);
    return first;
  });
  document.querySelector(".skip").focus();
  return window.wanted.length;
}"""
FOCUSED = """() => {
  const one = document.activeElement, name = `${one.tagName.toLowerCase()} ${(one.ariaLabel || one.textContent || one.name).trim().slice(0, 40)}`;
  if (one === document.body) return null;
  window.reached.add(one.type === "radio" ? `radio ${one.name}` : one);
  const ring = [one, one.closest("label")].some(it => it && getComputedStyle(it).outlineStyle !== "none" && parseFloat(getComputedStyle(it).outlineWidth) >= 2);
  if (!ring && !one.matches("svg a")) return `no visible focus: ${name}`;
  const box = (one.closest("label") ?? one).getBoundingClientRect();
  const spots = [[.5, .5], [.5, .1], [.5, .9], [.1, .5], [.9, .5]].map(([x, y]) => document.elementFromPoint(
    Math.min(Math.max(box.left + box.width * x, 1), innerWidth - 1), Math.min(Math.max(box.top + box.height * y, 1), innerHeight - 1)));
  const seen = spots.some(at => at && (one.contains(at) || at.contains(one) || one.closest("label")?.contains(at)) && box.bottom > 0 && box.top < innerHeight);
  return seen ? null : `hidden under something: ${name}`;
}"""
MISSED = """() => window.wanted.filter(one => !window.reached.has(one.type === "radio" ? `radio ${one.name}` : one))
  .map(one => `never reached: ${one.outerHTML.slice(0, 90)}`)"""
CONTROLS = """() => [...document.querySelectorAll("main :is(button, input, select, textarea, form)")]
  .filter(one => one.checkVisibility()).map(one => one.outerHTML.slice(0, 90))"""


@dataclass
class Seen:
    """All that was noticed in a day of looking."""

    pages: set[str] = field(default_factory=set)
    axe: list[str] = field(default_factory=list)
    sideways: list[str] = field(default_factory=list)
    amber: list[str] = field(default_factory=list)
    lit: dict[str, int] = field(default_factory=dict)
    focus: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)
    controls: list[str] = field(default_factory=list)
    bytes: dict[str, int] = field(default_factory=dict)
    themes: list[str] = field(default_factory=list)


class Looker:
    """A browser tab and a critical eye."""

    def __init__(self, browser: Browser, address: str, seen: Seen, **more: Any) -> None:
        self.address, self.seen = address, seen
        self.context: BrowserContext = browser.new_context(reduced_motion="reduce", timezone_id="Asia/Tokyo", **more)
        self.context.set_default_timeout(PATIENCE)
        self.page: Page = self.context.new_page()
        self.page.on("request", lambda asked: self._asked(asked.url))

    def _asked(self, url: str) -> None:
        if not url.startswith((self.address + "/", "data:")):
            self.seen.strangers.append(url)

    def opens(self, path: str) -> Page:
        """Open a page of the house."""
        self.page.goto(self.address + path)
        return self.page

    def looks(self, name: str) -> None:
        """Look at what is there, in both themes and both widths."""
        self.seen.pages.add(name)
        self.page.evaluate("document.fonts.ready.then(() => 0)")
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE)
        for theme in THEMES:
            self.page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
            for width, height in WIDTHS.items():
                self.page.set_viewport_size({"width": width, "height": height})
                self._looks_once(name, theme, width)
        self._walks(name)

    def _looks_once(self, name: str, theme: str, width: int) -> None:
        where = f"{name} {theme} {width}"
        self.seen.axe += [f"{where}: {one}" for one in self.page.evaluate(RUN_AXE)]
        root = "document.documentElement"
        too_wide = self.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth")
        if too_wide > 0:
            self.seen.sideways.append(f"{where}: {too_wide} px")
        found = self.page.evaluate(AMBER)
        self.seen.lit[name] = max(found["lit"], self.seen.lit.get(name, 0))
        self.seen.amber += [f"{where}: {one}" for one in found["strays"]]
        shot(self.page, f"{name}-{theme}-{width}")

    def _walks(self, name: str) -> None:
        """Go through the page with the Tab key, at the width it has now."""
        self.page.keyboard.press("Tab")
        many = self.page.evaluate(REACHABLE)
        found = []
        for _ in range(many + 6):
            self.page.keyboard.press("Tab")
            found.append(self.page.evaluate(FOCUSED))
        found += self.page.evaluate(MISSED)
        self.seen.focus += [f"{name}: {one}" for one in found if one]


@pytest.fixture(scope="module")
def seen(browser: Browser) -> Iterator[Seen]:
    """One house goes through one day, and somebody looks at everything."""
    folder = Path(tempfile.mkdtemp(prefix="mw", dir="/tmp"))
    ann, seen = Householder(folder), Seen()
    try:
        source = sample_repository(ann.repo)
        link = ann.starts()
        address = link.partition("/welcome")[0]
        looker = Looker(browser, address, seen, bypass_csp=True)
        by_day(looker, link)
        stranger(browser, looker)
        orders(looker, str(source))
        by_night(browser, looker, ann)
        strictly(browser, looker)
        in_the_morning(looker)
        yield seen
    finally:
        with suppress(Exception):
            shot(looker.page, "last")
            looker.context.close()
        ann.types("down", expect=None)
        shutil.rmtree(folder, ignore_errors=True)


def enter(page: Page, name: str) -> None:
    """Choose a name and a password."""
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Log out")).to_be_visible(timeout=PATIENCE)


def by_day(looker: Looker, link: str) -> None:
    """An empty house."""
    looker.page.goto(link)
    looker.looks("welcome")
    enter(looker.page, "ann")
    looker.looks("tonight-empty")
    looker.opens("/live")
    looker.looks("live-none")
    looker.opens("/morning")
    looker.looks("morning-none")
    looker.opens("/nowhere")
    looker.looks("problem")


def stranger(browser: Browser, looker: Looker) -> None:
    """Somebody without a login."""
    other = Looker(browser, looker.address, looker.seen, bypass_csp=True)
    other.opens("/live")
    other.looks("login")
    other.page.get_by_label("Name").fill("ann")
    other.page.get_by_label("Password").fill("not the password")
    other.page.keyboard.press("Enter")
    expect(other.page.locator(".problem")).to_be_visible()
    other.looks("login-wrong")
    other.context.close()


def orders(looker: Looker, path: str) -> None:
    """A project, a sheet, a mistake in it, a signature."""
    page = looker.opens("/tonight")
    page.get_by_label("Folder on this machine").fill(path)
    page.get_by_label("Checks").fill(CHECK)
    page.get_by_role("button", name="Add the project").click()
    expect(page.get_by_text("1 on the books")).to_be_visible()
    looker.looks("tonight-project")
    page.get_by_label("Goals").fill("Keep the code tidy without changing what it does")
    page.get_by_label("What is to be done there").fill("Tidy up")
    page.get_by_role("button", name="Put the orders down").click()
    sign = page.get_by_role("button", name="Sign and start the night")
    expect(sign).to_be_enabled()
    looker.looks("tonight-sheet")
    page.get_by_role("button", name="Change limits").click()
    page.get_by_label("Minutes").fill("soon")
    page.locator("#orders-limits").get_by_role("button", name="Save").click()
    expect(page.locator("#orders-limits .wrong").first).to_be_visible()
    looker.looks("tonight-wrong")
    page.locator("#orders-limits").get_by_role("button", name="Cancel").click()
    expect(page.locator("#orders-limits form")).to_have_count(0)
    sign.click()
    page.wait_for_url("**/live")


def by_night(browser: Browser, looker: Looker, ann: Householder) -> None:
    """A question, a pause, an answer, an end."""
    page = looker.page
    expect(page.locator("section.ask").first).to_be_visible()
    expect(page.locator(".jobs .wanted").first).to_be_visible()
    looker.looks("live-ask")
    guest(browser, looker, ann)
    looker.opens("/tonight")
    looker.looks("tonight-running")
    looker.opens("/morning")
    looker.looks("morning-running")
    looker.opens("/jobs/1")
    looker.looks("job-waiting")
    looker.opens("/live")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".paused")).to_be_visible()
    looker.looks("live-paused")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".paused")).to_have_count(0)
    page.locator("section.ask").first.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("link", name="Review what came of it")).to_be_visible(timeout=PATIENCE)
    looker.looks("live-over")
    page.locator("#feed a").first.click()
    page.wait_for_url("**/why/*")
    looker.looks("why")
    looker.opens("/jobs/1")
    looker.looks("job-done")


def guest(browser: Browser, looker: Looker, ann: Householder) -> None:
    """Somebody who may only look on finds nothing to press."""
    viewer = Looker(browser, looker.address, looker.seen, bypass_csp=True)
    viewer.page.goto(ann.types("person", "link", "--role", "viewer", "--json").json["url"])
    enter(viewer.page, "vera")
    for name in ("tonight", "live"):
        viewer.opens(f"/{name}")
        viewer.looks(f"viewer-{name}")
        looker.seen.controls += [f"{name}: {one}" for one in viewer.page.evaluate(CONTROLS)]
    viewer.context.close()


def strictly(browser: Browser, looker: Looker) -> None:
    """The same pages under the policy we send, with an empty cache, every byte counted."""
    for name in ("live", "tonight", "morning", "jobs/1", "why/1"):
        cold = Looker(browser, looker.address, looker.seen, storage_state=looker.context.storage_state())
        sizes: dict[str, float] = {}
        watched = cold.context.new_cdp_session(cold.page)
        watched.send("Network.enable")
        watched.on("Network.loadingFinished", lambda one, kept=sizes: kept.update({one["requestId"]: one["encodedDataLength"]}))
        watched.on("Network.dataReceived", lambda one, kept=sizes: kept.setdefault(one["requestId"], 0))
        cold.page.add_init_script(
            "window.broken = []; addEventListener('securitypolicyviolation', e => broken.push(e.violatedDirective))"
        )
        cold.page.on("console", lambda said: looker.seen.complaints.append(said.text) if said.type in {"error", "warning"} else None)
        cold.page.on("pageerror", lambda error: looker.seen.complaints.append(str(error)))
        answer = cold.page.goto(f"{looker.address}/{name}")
        assert answer is not None
        looker.seen.policies.append(answer.headers["content-security-policy"])
        cold.page.evaluate("document.fonts.ready.then(() => 0)")
        before = cold.page.evaluate("getComputedStyle(document.documentElement).colorScheme")
        cold.page.get_by_title("Change the colours of the page").click()
        cold.page.reload()
        after = cold.page.evaluate("getComputedStyle(document.documentElement).colorScheme")
        looker.seen.themes.append(f"{name}: {before}, then {after}")
        looker.seen.complaints += [f"{name}: {one}" for one in cold.page.evaluate("broken")]
        looker.seen.bytes[name] = int(sum(sizes.values()))
        cold.context.close()


def in_the_morning(looker: Looker) -> None:
    """To read, to reject with a word, to hand in."""
    page = looker.opens("/morning")
    items = page.locator("article.item")
    expect(items.first).to_be_visible()
    looker.looks("morning")
    page.locator(".place").first.click()
    page.keyboard.press("r")
    expect(page.locator(".why-field textarea").first).to_be_visible()
    looker.looks("morning-reject")
    page.locator(".place").first.click()
    for _ in range(items.count()):
        page.keyboard.press("a")
    for name in ("usefulness", "trust", "brevity"):
        page.locator(f"input[name={name}][value='4']").check()
    page.get_by_role("button", name="Hand in the review").click()
    expect(page.locator("#changed")).to_be_visible()
    looker.looks("morning-reviewed")


def test_axe_finds_nothing_wrong_on_any_page(seen: Seen) -> None:
    assert not seen.axe, "\n".join(seen.axe)


def test_no_page_scrolls_sideways(seen: Seen) -> None:
    assert not seen.sideways, "\n".join(seen.sideways)


def test_the_tab_key_reaches_everything_and_the_focus_is_seen(seen: Seen) -> None:
    assert not seen.focus, "\n".join(seen.focus)


def test_only_what_wants_a_person_is_amber(seen: Seen) -> None:
    assert not seen.amber, "\n".join(seen.amber)
    for name in ("live-ask", "tonight-sheet", "job-waiting", "morning"):
        assert seen.lit[name], f"{name} wants somebody and does not say so"
    for name in ("live-none", "morning-none", "morning-reviewed", "job-done", "why", "viewer-live", "viewer-tonight"):
        assert not seen.lit[name], f"{name} wants nobody"


def test_a_viewer_has_nothing_to_press(seen: Seen) -> None:
    assert not seen.controls, "\n".join(seen.controls)


def test_no_request_leaves_the_house(seen: Seen) -> None:
    assert not seen.strangers, "\n".join(seen.strangers)


def test_the_policy_allows_nothing_inline_and_nothing_breaks_it(seen: Seen) -> None:
    assert seen.policies
    for policy in seen.policies:
        assert "unsafe-inline" not in policy
        assert "unsafe-eval" not in policy
    assert not seen.complaints, "\n".join(seen.complaints)


def test_night_is_ink_and_morning_is_paper_until_somebody_chooses(seen: Seen) -> None:
    assert seen.themes == [
        "live: dark, then light",
        "tonight: dark, then light",
        "morning: light, then dark",
        "jobs/1: dark, then light",
        "why/1: dark, then light",
    ]


def test_a_cold_page_is_small(seen: Seen, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\ncold pages: " + ", ".join(f"/{name} {size:,} bytes" for name, size in seen.bytes.items()))
    for name, size in seen.bytes.items():
        assert 30_000 < size < MOST_BYTES, f"/{name} takes {size:,} bytes"
