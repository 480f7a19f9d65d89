"""What forges say of pull requests."""

import sqlalchemy as sa

from midwatch.journal.entry import Entry
from midwatch.journal.events import jobs as ev
from midwatch.store.projectors.rows import change, on
from midwatch.store.schema.tables import pull_requests


@on(ev.PullRequestChanged)
def pull_request_changed(c: sa.Connection, entry: Entry, event: ev.PullRequestChanged) -> None:
    fields = event.model_dump(mode="json", exclude={"kind", "pull_request", "forge"})
    change(c, pull_requests, {"id": event.pull_request, "state": "open"}, **fields, seen_at=entry.at)
