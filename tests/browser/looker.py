"""A browser tab and a critical eye: what is noticed on a page in both themes, wide and on a phone."""

import zlib
from collections import Counter
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.conftest import shot
from tests.patience import PATIENCE_MS

WIDTHS = {1280: 900, 390: 844}
THEMES = ("dark", "light")
STATES = tuple((theme, width) for theme in THEMES for width in WIDTHS)
SCRIPTS = (files("axe_playwright_python") / "axe.min.js", Path(__file__).with_name("looks.js"))


@dataclass
class Seen:
    """All that was noticed in a day of looking."""

    everything: bool = False
    """Whether axe looks at each state of each page in each theme at each width."""
    kinds: Counter[str] = field(default_factory=Counter)
    """How often each kind of page was looked at: `live-ask` and `live-over` are of one kind."""
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
        self.context.set_default_timeout(PATIENCE_MS)
        self.page: Page = self.context.new_page()
        self.page.on("request", lambda asked: self._asked(asked.url))

    def _asked(self, url: str) -> None:
        if not url.startswith((self.address + "/", "data:")):
            self.seen.strangers.append(url)

    def opens(self, path: str) -> Page:
        """Open a page of the house."""
        self.page.goto(self.address + path)
        return self.page

    def looks(self, name: str, *, pictured: bool = False) -> None:
        """Look at what is there, in both themes and both widths; with a picture, also at its edge."""
        states = STATES if self.seen.everything else self._chosen(name)
        self.page.evaluate("document.fonts.ready.then(() => scrollTo(0, 0))")
        if not self.page.evaluate("'looks' in window"):
            for script in SCRIPTS:
                self.page.evaluate(script.read_text())
        for theme in THEMES:
            self.page.evaluate("theme => looks.choose(theme)", theme)
            for width, height in WIDTHS.items():
                self.page.set_viewport_size({"width": width, "height": height})
                self._looks_once(name, theme, width)
                if (theme, width) in states:
                    self._asks_axe(f"{name} {theme} {width}")
        self._walks(name)
        if pictured:
            self._steps_to_the_edge(name)

    def _looks_once(self, name: str, theme: str, width: int) -> None:
        where = f"{name} {theme} {width}"
        if too_wide := max(0, self.page.evaluate("looks.tooWide()")):
            self.seen.sideways.append(f"{where}: {too_wide} px")
        found = self.page.evaluate("looks.amber()")
        self.seen.lit[name] = max(found["lit"], self.seen.lit.get(name, 0))
        self.seen.amber += [f"{where}: {one}" for one in found["strays"]]
        shot(self.page, f"{name}-{theme}-{width}")

    def _chosen(self, name: str) -> list[tuple[str, int]]:
        """Choose both themes and both widths for the first look at a kind of page, then one pair for each look."""
        kind = name.partition("-")[0]
        before = self.seen.kinds[kind]
        self.seen.kinds[kind] += 1
        chosen = [STATES[(zlib.crc32(kind.encode()) + before) % len(STATES)]]
        return chosen if before else [*chosen, *(one for one in STATES if not set(one) & set(chosen[0]))]

    def _asks_axe(self, where: str) -> None:
        self.seen.axe += [f"{where}: {one}" for one in self.page.evaluate("looks.axe()")]

    def _walks(self, name: str) -> None:
        """Go through the page with the Tab key, at the width it has now.

        A page that lives may push something away between the key and the look. Then, and only then, it is walked anew.
        """
        found = self._walks_once()
        if found and self.page.evaluate("looks.changed"):
            found = self._walks_once()
        self.seen.focus += [f"{name}: {one}" for one in found]

    def _walks_once(self) -> list[str]:
        self.page.keyboard.press("Tab")
        many = self.page.evaluate("looks.begin()")
        for _ in range(many):
            self.page.keyboard.press("Tab")
        for _ in range(many + 10):  # a field for a date has several stops
            if self.page.evaluate("looks.around"):
                break
            self.page.keyboard.press("Tab")
        found: list[str] = self.page.evaluate("looks.found()")
        return found

    def _steps_to_the_edge(self, name: str) -> None:
        """Go with the Tab key to a link that ends a hair outside the box it scrolls in."""
        self.page.evaluate("looks.toTheEdge()")
        self.page.keyboard.press("Tab")
        if problem := self.page.evaluate("looks.here()"):
            self.seen.focus.append(f"{name} at the edge: {problem}")
