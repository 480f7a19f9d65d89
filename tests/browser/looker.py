"""A browser tab and a critical eye: what is noticed on a page in both themes, wide and on a phone."""

import zlib
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.conftest import shot
from tests.patience import PATIENCE_MS

WIDTHS = {1280: 900, 390: 844}
THEMES = ("dark", "light")
SCRIPTS = (files("axe_playwright_python") / "axe.min.js", Path(__file__).with_name("looks.js"))


@dataclass
class Seen:
    """All that was noticed in a day of looking."""

    everything: bool = False
    """Whether axe looks at each page in each theme at each width, and not only once in each."""
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
        self.seen.pages.add(name)
        self.page.evaluate("document.fonts.ready.then(() => scrollTo(0, 0))")
        if not self.page.evaluate("'looks' in window"):
            for script in SCRIPTS:
                self.page.evaluate(script.read_text())
        for theme in THEMES:
            self.page.evaluate("theme => looks.choose(theme)", theme)
            for width, height in WIDTHS.items():
                self.page.set_viewport_size({"width": width, "height": height})
                self._looks_once(name, theme, width)
                if self.seen.everything or self._chosen(name, theme, width):
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

    @staticmethod
    def _chosen(name: str, theme: str, width: int) -> bool:
        """Choose one theme for each width, so that each page has had both of both; which is which, its name decides."""
        crossed = zlib.crc32(name.encode()) % 2
        return (THEMES.index(theme) + list(WIDTHS).index(width)) % 2 == crossed

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
        found: list[str] = []
        for _ in range(many * 2 + 10):  # a field for a date has several stops
            at = self._steps()
            if at.get("problem"):
                found.append(at["problem"])
            if at.get("again"):
                break
        return [*found, *self.page.evaluate("looks.missed()")]

    def _steps(self) -> dict[str, Any]:
        self.page.keyboard.press("Tab")
        at: dict[str, Any] = self.page.evaluate("looks.here()")
        return at

    def _steps_to_the_edge(self, name: str) -> None:
        """Go with the Tab key to a link that ends a hair outside the box it scrolls in."""
        self.page.evaluate("looks.toTheEdge()")
        at = self._steps()
        if at.get("problem"):
            self.seen.focus.append(f"{name} at the edge: {at['problem']}")
