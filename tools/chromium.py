"""Bring a Chromium for the browser tests where that can be done, and say loudly where it cannot.

usage: python3 tools/chromium.py

Standard library only. Playwright's own browser comes from a server that many networks do not reach; Debian's package
comes from where the machine's other packages come from.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""The first is the same engine without the windows of a browser, and needs a third less processor time."""
INSTALL = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "fonts-dejavu-core"]


def main() -> int:
    """Look, bring, or explain; never fails by itself, because the tests say what they miss."""
    if any(shutil.which(name) for name in NAMES):
        return 0
    if shutil.which("apt-get") and os.geteuid() == 0:
        print("midwatch: bringing Chromium for the browser tests (Debian's package, once)", flush=True)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        small, whole = [*INSTALL, NAMES[0]], [*INSTALL, "chromium"]  # an older Debian has only the whole one
        for command in (small, ["apt-get", "update", "-q"], small, whole):
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
            if any(shutil.which(name) for name in NAMES):
                return 0
    print(
        "midwatch: NO CHROMIUM HERE, so the browser tests will be skipped.\n"
        "midwatch: install it (Debian: sudo apt-get install chromium) and run the same command again.",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
