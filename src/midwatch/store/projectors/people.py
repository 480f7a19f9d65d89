"""People, logins and tokens, as rows."""

import sqlalchemy as sa

from midwatch.errors import Stale
from midwatch.journal.entry import Entry
from midwatch.journal.events import people as ev
from midwatch.store.projectors.rows import begin, change, on, only_written
from midwatch.store.schema.tables import people, tokens


@on(ev.PersonAdded)
def person_added(c: sa.Connection, entry: Entry, event: ev.PersonAdded) -> None:
    """A name is one person's at a time."""
    same = sa.select(people.c.id).where(sa.func.lower(people.c.name) == event.name.lower(), people.c.removed.is_(False))
    if c.execute(same).first():
        raise Stale(f"There is a person called {event.name} already.", hint="Choose another name.")
    begin(c, entry, people, event.person, event)


@on(ev.PersonChanged)
def person_changed(c: sa.Connection, _: Entry, event: ev.PersonChanged) -> None:
    """Only while the person may log in."""
    change(c, people, {"id": event.person, "removed": False}, role=event.role)


@on(ev.PersonRemoved)
def person_removed(c: sa.Connection, _: Entry, event: ev.PersonRemoved) -> None:
    """Their tokens go with them."""
    change(c, people, {"id": event.person, "removed": False}, removed=True)
    c.execute(tokens.update().where(tokens.c.person == event.person).values(revoked=True))


@on(ev.PersonEntered)
def person_entered(c: sa.Connection, entry: Entry, event: ev.PersonEntered) -> None:
    """A removed person cannot log in."""
    change(c, people, {"id": event.person, "removed": False}, last_entered_at=entry.at)


for _kind in (ev.PersonInvited, ev.PersonLeft, ev.PersonRefused):
    on(_kind)(only_written)


@on(ev.TokenIssued)
def token_issued(c: sa.Connection, entry: Entry, event: ev.TokenIssued) -> None:
    """It is valid until its date, while its person may log in."""
    begin(c, entry, tokens, event.token, event)


@on(ev.TokenRevoked)
def token_revoked(c: sa.Connection, _: Entry, event: ev.TokenRevoked) -> None:
    change(c, tokens, {"id": event.token, "revoked": False}, revoked=True)
