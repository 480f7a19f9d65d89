"""What the evening needs."""

from collections.abc import Collection
from dataclasses import dataclass

from midwatch.ports.books import Books
from midwatch.ports.workspace import Inspector


@dataclass(frozen=True, slots=True)
class Evening:
    """What the evening's functions use; one that needs only the books is given those."""

    books: Books
    inspector: Inspector
    agents: Collection[str]
    """The agents that can be given work now."""
