"""Where this machine's Chromium is, and how it is started in tests."""

import shutil

from tests.conftest import missing
from tools.chromium import NAMES

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str:
    """Find it, or skip the test unless MIDWATCH_REQUIRE names it."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or missing("chromium", "none of " + ", ".join(NAMES) + " is installed")
