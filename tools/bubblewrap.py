"""Bring bubblewrap, and strace beside it, for the tests behind walls, and say loudly where that cannot be done.

usage: python3 tools/bubblewrap.py

Standard library only.
"""

import os
import shutil
import subprocess
import sys

INSTALL = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "bubblewrap", "strace"]
PROGRAMS = ("bwrap", "strace")


def main() -> int:
    """Look, bring, or explain; never fails by itself, because the tests say what they miss."""
    if all(map(shutil.which, PROGRAMS)):
        return 0
    if shutil.which("apt-get") and os.geteuid() == 0:
        print("midwatch: bringing bubblewrap and strace for the tests behind walls (Debian's, once)", flush=True)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (INSTALL, ["apt-get", "update", "-q"], INSTALL):
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
            if all(map(shutil.which, PROGRAMS)):
                return 0
    gone = ", ".join(name for name in PROGRAMS if not shutil.which(name))
    print(
        f"midwatch: {gone.upper()} NOT HERE, so tests behind walls will be skipped.\n"
        "midwatch: install it (Debian: sudo apt-get install bubblewrap strace) and run the same command again.",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
