"""What happens around a job on a machine, as rows."""

import sqlalchemy as sa

from midwatch.journal.entry import Entry
from midwatch.journal.events import workshop as ev
from midwatch.store.projectors.jobs import by_epoch
from midwatch.store.projectors.people import only_written
from midwatch.store.projectors.rows import insert, on
from midwatch.store.schema.tables import connections


@on(ev.ConnectionSeen)
def connection_seen(c: sa.Connection, entry: Entry, event: ev.ConnectionSeen) -> None:
    """Recorded in any state of the job."""
    fields = event.model_dump(mode="json", exclude={"kind"})
    insert(c, connections, **fields, id=str(entry.seq), created_at=entry.at)


@on(ev.SetupFinished)
def setup_finished(c: sa.Connection, _: Entry, event: ev.SetupFinished) -> None:
    """Every room of the job gets the result."""
    by_epoch(c, event.job, event.epoch, setup_key=event.fingerprint)


for _kind in (ev.ProcessOrphaned, ev.CheckoutRemoved):
    on(_kind)(only_written)
