"""What the evening needs."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from midwatch.journal.port import Journal, Records
from midwatch.settings import Loaded
from midwatch.terms.jobs import RepositoryFacts
from midwatch.terms.roles import Clock, Ids


class Inspector(Protocol):
    """Looks at a person's repository."""

    async def inspect(self, path: Path | str) -> RepositoryFacts:
        """Tell branch, head and what is uncommitted, or what is wrong with it."""
        ...


@dataclass(frozen=True, slots=True)
class Evening:
    """Everyone at the table in the evening."""

    journal: Journal
    records: Records
    clock: Clock
    ids: Ids
    loaded: Callable[[], Loaded]
    inspector: Inspector
    agents: Collection[str]
    """Who can be given work right now."""
