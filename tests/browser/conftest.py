"""A real Chromium before a real server."""

import fcntl
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from midwatch.surfaces.address import FIRST_LOGIN
from tests.chromium import FLAGS, chromium
from tests.patience import PATIENCE_MS
from tests.surfaces.person import SETTINGS, Person

SHOTS = Path(os.environ["MIDWATCH_SHOTS"]) if "MIDWATCH_SHOTS" in os.environ else None

# For every module here, whichever runs alone: a night on a busy machine takes its time.
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for the tests of a module; no longer, because Playwright keeps an event loop running meanwhile."""
    found = chromium()
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield launched
        launched.close()


class Householder(Person):
    """Somebody who starts and kills the server by hand, and otherwise has only a browser."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.settles(SETTINGS.replace("[server]\n", f"[server]\nport = {self.port}\n"))

    def starts(self) -> str:
        """Start the server in the background; gives its address, or the link to a first login."""
        said = self.ups()
        if FIRST_LOGIN in said:
            return str(self.types("person", "link", "--role", "owner", "--json").json["url"])
        return next(word for word in said.split() if word.startswith("http"))

    def kills(self) -> None:
        """No farewell; it is dead once its lock is free."""
        with (self.home / "server.lock").open() as lock:
            os.kill(int(lock.read()), signal.SIGKILL)
            fcntl.flock(lock, fcntl.LOCK_SH)


@pytest.fixture
def ann() -> Iterator[Householder]:
    """A house of one's own on a short path."""
    folder = Path(tempfile.mkdtemp(prefix="mw", dir="/tmp"))
    person = Householder(folder)
    try:
        yield person
    finally:
        person.types("down", expect=None)
        shutil.rmtree(folder, ignore_errors=True)


def shot(page: Page, name: str) -> None:
    """Keep a picture for whoever wants to look (MIDWATCH_SHOTS names the folder)."""
    if SHOTS is not None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SHOTS / f"{name}.png", full_page=True)
