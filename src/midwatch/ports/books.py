"""The books: what Midwatch knows, and where it writes down what happens."""

from collections.abc import Callable
from dataclasses import dataclass

from midwatch.ports.clock import Clock, Ids
from midwatch.ports.journal import Blobs, Journal, Records
from midwatch.ports.machine import Machine
from midwatch.settings import Settings


@dataclass(frozen=True, slots=True)
class Books:
    """What decisions are made by, and where they are recorded.

    A function that is given only the books starts no program, touches no checkout and reaches nothing outside.
    """

    journal: Journal
    records: Records
    blobs: Blobs
    clock: Clock
    ids: Ids
    settings: Callable[[], Settings]
    machine: Machine
    worker: str
    """The name of this process, under which it claims jobs."""
