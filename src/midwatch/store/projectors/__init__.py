"""From event to rows: one small function per kind of event, run in the transaction that records it."""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from midwatch.errors import Corrupt
from midwatch.journal.entry import Entry
from midwatch.store.projectors import (
    asks,
    crew,
    held_up,
    house,
    jobs,
    morning,
    notices,
    plans,
    sessions,
    steps,
)
from midwatch.store.projectors.rows import PROJECTORS

__all__ = [
    "asks",
    "crew",
    "held_up",
    "house",
    "jobs",
    "morning",
    "notices",
    "plans",
    "project",
    "sessions",
    "steps",
]


def project(connection: sa.Connection, entry: Entry) -> None:
    """Bring the tables up to date with one entry; an entry that does not fit the state is refused as Stale."""
    projector: Callable[[sa.Connection, Entry, Any], None] | None = PROJECTORS.get(type(entry.event))
    if projector is None:
        raise Corrupt(f"No projector knows {entry.event.kind}.", hint="This is a bug in midwatch; please report it.")
    projector(connection, entry, entry.event)
    steps.keep(connection, entry)
