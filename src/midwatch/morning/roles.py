"""What the morning needs."""

from collections.abc import Callable
from dataclasses import dataclass

from midwatch.ports.clock import Clock, Ids
from midwatch.ports.door import Door
from midwatch.ports.forge import BranchMover, Commenter
from midwatch.ports.journal import Blobs, Journal, Records
from midwatch.ports.workspace import MergeTrials, Mirrors, Proofs, Upkeep
from midwatch.settings import Settings


@dataclass(frozen=True, slots=True)
class Morning:
    """What the morning's functions use."""

    journal: Journal
    records: Records
    blobs: Blobs
    clock: Clock
    ids: Ids
    settings: Callable[[], Settings]
    mirrors: Mirrors
    merges: MergeTrials
    proofs: Proofs
    upkeep: Upkeep
    forge: BranchMover
    door: Door
    comments: Commenter | None = None
    """None if every pull request is local."""
