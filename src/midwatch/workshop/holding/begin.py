"""Starts holders: `python -I -S begin.py` reads a spec from stdin and answers when the holder is detached.

Its own module: run by its path, with only the standard library, so that it starts fast and survives upgrades of
Midwatch. The answer is one word on stdout: `held`, `taken` (this epoch has had its holder) or `stale` (a newer epoch
has begun). With the number of a socket as its argument it stays, and does the same in a child for each pair of
descriptors, stdin and stdout, that comes through the socket, until the server closes it.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # Last, so that no module of Midwatch can replace one of the standard library.
    sys.path.append(str(Path(__file__).resolve().parents[3]))
    from midwatch.workshop.holding.guardian import detach, detach_each

    if sys.argv[1:]:
        detach_each(int(sys.argv[1]))
    else:
        detach(sys.stdin.buffer.read())
