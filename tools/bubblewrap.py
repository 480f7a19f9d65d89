"""Bring bubblewrap for the tests behind walls where that can be done, and say loudly where it cannot.

usage: python3 tools/bubblewrap.py

Standard library only.
"""

import os
import shutil
import subprocess
import sys

INSTALL = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "bubblewrap"]


def main() -> int:
    """Look, bring, or explain; never fails by itself, because the tests say what they miss."""
    if shutil.which("bwrap"):
        return 0
    if shutil.which("apt-get") and os.geteuid() == 0:
        print("midwatch: bringing bubblewrap for the tests behind walls (Debian's package, once)", flush=True)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (INSTALL, ["apt-get", "update", "-q"], INSTALL):
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
            if shutil.which("bwrap"):
                return 0
    print(
        "midwatch: NO BUBBLEWRAP HERE, so the tests behind walls will be skipped.\n"
        "midwatch: install it (Debian: sudo apt-get install bubblewrap) and run the same command again.",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
