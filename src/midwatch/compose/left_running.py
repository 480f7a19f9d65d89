"""Which agents run without a server.

Its own module: the other checks load all that `compose` connects, and `midwatch down` needs none of it.
"""

from pathlib import Path

from midwatch.workshop.holding.adoption import find_orphans


def agents_at_work(home: Path) -> int:
    """Count the agents that still run without a server."""
    return len(find_orphans(home / "held", {}))
