"""Which agents run without a server. Separate from the other checks: `midwatch down` need not load the whole house."""

from pathlib import Path

from midwatch.workshop.holding.adoption import find_orphans


def agents_at_work(home: Path) -> int:
    """Count the agents that still run without a server."""
    return len(find_orphans(home / "held", {}))
