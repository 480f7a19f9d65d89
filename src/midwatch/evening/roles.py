"""What the evening needs."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from midwatch.ports.clock import Clock, Ids
from midwatch.ports.journal import Journal, Records
from midwatch.ports.workspace import Inspector
from midwatch.settings import LoadedSettings


@dataclass(frozen=True, slots=True)
class Evening:
    """What the evening's functions use."""

    journal: Journal
    records: Records
    clock: Clock
    ids: Ids
    loaded: Callable[[], LoadedSettings]
    inspector: Inspector
    agents: Collection[str]
    """The agents that can be given work now."""
