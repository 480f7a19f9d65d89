"""Starts a holder: `python -I -S begin.py` reads the spec from stdin and answers when the holder stands on its own.

Run by path, with nothing but the standard library, so that it starts fast and lives through our own upgrades. The
answer is one word on stdout: `held`, `taken` (this epoch has had its holder) or `stale` (a newer epoch has begun).
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # Last, so that nothing of the house can stand in for the standard library.
    sys.path.append(str(Path(__file__).resolve().parents[3]))
    from midwatch.workshop.holding.guardian import detach

    detach(sys.stdin.buffer.read())
