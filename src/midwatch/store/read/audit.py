"""An audit that changes nothing: the chain is walked, and the records are rebuilt on the side and compared."""

from dataclasses import dataclass

import sqlalchemy as sa

from midwatch.store.projectors import project
from midwatch.store.read.entries import read_entry
from midwatch.store.rebuild import fingerprint, verify_chain
from midwatch.store.schema.engines import open_for_audit
from midwatch.store.schema.tables import journal, meta

BATCH = 2000


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found."""

    entries: int
    broken: str
    """A sentence about the first entry that does not hold, empty if all do."""
    differs: tuple[str, ...]
    """Tables that a rebuild would write differently."""


def audit(url: str) -> Audit:
    """Check journal and records in one snapshot, because a night may be writing."""
    engine = open_for_audit(url)
    try:
        with engine.connect() as connection:
            entries, broken = verify_chain(connection)
            differs = () if broken else _differing(connection)
    finally:
        engine.dispose()
    return Audit(entries=entries, broken=broken, differs=differs)


def _differing(connection: sa.Connection) -> tuple[str, ...]:
    """Rebuild into memory, so that nothing of the real tables is touched."""
    aside = sa.create_engine("sqlite://")
    with aside.begin() as copy:
        meta.create_all(copy)
        query = sa.select(journal).order_by(journal.c.seq).execution_options(yield_per=BATCH)
        for row in connection.execute(query):
            project(copy, read_entry(row))
        rebuilt = fingerprint(copy)
    aside.dispose()
    now = fingerprint(connection)
    return tuple(name for name, hashed in now.items() if rebuilt[name] != hashed)
