"""People, logins and tokens, as rows."""

import sqlalchemy as sa

from midwatch.errors import Stale
from midwatch.journal.entry import Entry
from midwatch.journal.events import people as ev
from midwatch.journal.events.happening import Happening
from midwatch.store.projectors.rows import change, insert, next_number, on
from midwatch.store.schema.tables import people, tokens


@on(ev.PersonAdded)
def person_added(c: sa.Connection, entry: Entry, event: ev.PersonAdded) -> None:
    """A name is one person's at a time."""
    same = sa.select(people.c.id).where(sa.func.lower(people.c.name) == event.name.lower(), people.c.removed.is_(False))
    if c.execute(same).first():
        raise Stale(f"There is a person called {event.name} already.", hint="Choose another name.")
    insert(
        c,
        people,
        id=event.person,
        number=next_number(c, people),
        name=event.name,
        role=event.role,
        removed=False,
        last_entered_at=None,
        created_at=entry.at,
    )


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


def only_written(_: sa.Connection, __: Entry, ___: Happening) -> None:
    """No row: the entry is enough."""


for _kind in (ev.PersonInvited, ev.PersonLeft, ev.PersonRefused):
    on(_kind)(only_written)


@on(ev.TokenIssued)
def token_issued(c: sa.Connection, entry: Entry, event: ev.TokenIssued) -> None:
    """It is valid until its date, while its person may log in."""
    fields = event.model_dump(exclude={"kind", "token"})
    fields["scopes"] = [scope.value for scope in event.scopes]
    insert(c, tokens, **fields, id=event.token, number=next_number(c, tokens), revoked=False, created_at=entry.at)


@on(ev.TokenRevoked)
def token_revoked(c: sa.Connection, _: Entry, event: ev.TokenRevoked) -> None:
    change(c, tokens, {"id": event.token, "revoked": False}, revoked=True)
