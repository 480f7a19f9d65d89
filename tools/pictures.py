"""Make the pictures of the documents: a night over the demo's repository, its pages looked at with Chromium.

usage: .venv/bin/python -m tools.pictures [FOLDER]

Without a folder it renews `docs/pictures`. With one it writes each page there in both themes, wide and at 390 px, to
be looked at. Nothing is made up: the pages are those of a real night, which takes a minute.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from midwatch.surfaces.demo.sample import CHECK, FILES
from tools.chromium import NAMES

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "pictures"
COMMAND = Path(sys.executable).with_name("midwatch")
WIDE, NARROW = {"width": 1024, "height": 768}, {"width": 390, "height": 844}
KEPT_SIZE, SMALLER = {"width": 1152, "height": 864}, 2 / 3
"""Of the pictures in the documents, which are shown beside each other."""
NIGHT = """\
level = "cautious"
goals = ["Tidy code without changing what it does"]
success_criteria = ["The tests stay green"]
do_not_touch = ["data/**"]

[[work]]
project = "sample-shop"
title = "Tidy up the shop"

[limits]
minutes = 480
usd = 0
"""
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
PATIENCE_MS = 120_000


@dataclass(frozen=True)
class Evening:
    """A data folder with a project, a draft of orders, and a server that is up."""

    folder: Path

    def types(self, *words: str) -> str:
        """Run one command of Midwatch."""
        known = {name: value for name, value in os.environ.items() if not name.startswith("MIDWATCH_")}
        there = {"HOME": str(self.folder), "MIDWATCH_HOME": str(self.folder / "home"), "NO_COLOR": "1"}
        ended = subprocess.run(
            [COMMAND, *words], cwd=self.folder, env=known | there, check=False, capture_output=True, text=True
        )
        if ended.returncode:
            raise SystemExit(f"midwatch {' '.join(words)} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
        return ended.stdout

    def asks(self, *words: str) -> Any:
        """Run one command, and read its JSON."""
        return json.loads(self.types(*words, "--json"))


@contextmanager
def an_evening() -> Iterator[Evening]:
    """Make everything that a signature needs; the server is stopped afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="midwatch-", dir="/tmp"))
    evening, shop = Evening(folder), folder / "sample-shop"
    try:
        for name, text in FILES.items():
            (shop / name).parent.mkdir(parents=True, exist_ok=True)
            (shop / name).write_text(text)
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "A small shop")):
            author = ("-c", "user.name=ann", "-c", "user.email=ann@localhost")
            subprocess.run(["git", *author, *words], cwd=shop, check=True)
        (folder / "orders.toml").write_text(NIGHT)
        evening.types("up", "--detach")
        evening.types("project", "add", "sample-shop", "--check", CHECK)
        evening.types("brief", "--file", "orders.toml")
        evening.types("preflight")
        yield evening
    finally:
        evening.types("down")
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Camera:
    """A browser that is logged in, and where its pictures go."""

    browser: Browser
    address: str
    login: Any
    into: Path
    both: bool
    """Both themes, wide and narrow; else one small picture as the documents show it."""

    def page(self, view: Any, scale: float = 1.0) -> Page:
        """Open a page of a size."""
        context = self.browser.new_context(
            viewport=view, device_scale_factor=scale, storage_state=self.login, reduced_motion="reduce"
        )
        context.set_default_timeout(PATIENCE_MS)
        return context.new_page()

    def takes(self, path: str, name: str, ready: str) -> None:
        """Take a picture of a page once it shows what makes it ready."""
        if not self.both:
            page = self.page(KEPT_SIZE, SMALLER)
            self._shows(page, path, ready)
            page.screenshot(path=self.into / f"{name}.png", scale="device")
            page.context.close()
            return
        for size, view in (("wide", WIDE), ("narrow", NARROW)):
            page = self.page(view)
            for theme in ("light", "dark"):
                page.add_init_script(f"localStorage.setItem('theme', '{theme}')")
                self._shows(page, path, ready)
                page.screenshot(path=self.into / f"{name}-{theme}-{size}.png", full_page=True)
            page.context.close()

    def _shows(self, page: Page, path: str, ready: str) -> None:
        page.goto(f"{self.address}{path}")
        page.locator(ready).first.wait_for()
        page.evaluate("document.fonts.ready")


def main(words: list[str]) -> int:
    """Live through one night, and take its pictures on the way."""
    program = next((path for name in NAMES if (path := shutil.which(name))), None)
    if program is None:
        raise SystemExit("midwatch: there is no Chromium here. Install it: python3 tools/chromium.py")
    into = Path(words[0]).absolute() if words else KEPT
    into.mkdir(parents=True, exist_ok=True)
    with an_evening() as evening, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=FLAGS)
        link = evening.asks("person", "link", "--role", "owner")["url"]
        camera = Camera(browser, link.partition("/welcome")[0], _logged_in(browser, link), into, both=bool(words))
        camera.takes("/tonight", "tonight", "text=Sign and start the night")
        evening.types("start")
        camera.takes("/live", "live", "button:has-text('Approve')")
        _approve(camera)
        evening.types("watch")
        camera.takes("/morning", "morning", ".item.here")
        if camera.both:
            camera.takes("/jobs/1", "job", "text=Merge into main")
        browser.close()
    return 0


def _logged_in(browser: Browser, link: str) -> Any:
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill("a short sentence of ann's")
    page.get_by_role("button").last.click()
    page.wait_for_url(lambda url: "welcome" not in url)
    login = context.storage_state()
    context.close()
    return login


def _approve(camera: Camera) -> None:
    page = camera.page(WIDE)
    page.goto(f"{camera.address}/live")
    page.get_by_role("button", name="Approve").first.click()
    page.get_by_role("button", name="Approve").first.wait_for(state="hidden")
    page.context.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
