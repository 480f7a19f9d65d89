"""What the morning needs."""

from collections.abc import Callable
from dataclasses import dataclass

from midwatch.journal.port import Blobs, Journal, Records
from midwatch.settings import Settings
from midwatch.terms.roles import Clock, Ids


@dataclass(frozen=True, slots=True)
class Morning:
    """Everyone at the breakfast table."""

    journal: Journal
    records: Records
    blobs: Blobs
    clock: Clock
    ids: Ids
    settings: Callable[[], Settings]
