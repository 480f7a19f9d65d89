"""What the morning needs."""

from dataclasses import dataclass

from midwatch.ports.books import Books
from midwatch.ports.door import Door
from midwatch.ports.forge import BranchMover, Commenter
from midwatch.ports.workspace import MergeTrials, Mirrors, Proofs, Upkeep


@dataclass(frozen=True, slots=True)
class Morning:
    """What the morning's functions use; one that needs only the books is given those."""

    books: Books
    mirrors: Mirrors
    merges: MergeTrials
    proofs: Proofs
    upkeep: Upkeep
    forge: BranchMover
    door: Door
    comments: Commenter | None = None
    """None if every pull request is local."""
