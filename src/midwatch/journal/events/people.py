"""What happens at the door of the house: who was let in, who was not, and what tokens are about."""

from datetime import datetime
from typing import Literal

from midwatch.journal.events.happening import Happening
from midwatch.terms.people import Role, Scope


class PersonAdded(Happening):
    """Somebody may enter from now on."""

    kind: Literal["person.added"] = "person.added"
    person: str
    name: str
    role: Role


class PersonChanged(Happening):
    """Somebody may do more, or less."""

    kind: Literal["person.changed"] = "person.changed"
    person: str
    role: Role


class PersonRemoved(Happening):
    """Somebody may enter no more; what they did stays written."""

    kind: Literal["person.removed"] = "person.removed"
    person: str


class PersonInvited(Happening):
    """A one-time link was made; whoever opens it first sets name and password."""

    kind: Literal["person.invited"] = "person.invited"
    role: Role
    person: str = ""
    """Whose password it sets anew; empty for somebody new."""
    expires_at: datetime


class PersonEntered(Happening):
    """Somebody signed in."""

    kind: Literal["person.entered"] = "person.entered"
    person: str
    way: Literal["password", "link"]


class PersonLeft(Happening):
    """Somebody signed out, everywhere or here."""

    kind: Literal["person.left"] = "person.left"
    person: str
    everywhere: bool = False


class PersonRefused(Happening):
    """Somebody tried to enter and was turned away; after some attempts they are no longer counted one by one."""

    kind: Literal["person.refused"] = "person.refused"
    name: str
    why: Literal["password", "throttled", "link"]


class TokenIssued(Happening):
    """A program may act for somebody, within some of their scopes."""

    kind: Literal["token.issued"] = "token.issued"
    token: str
    person: str
    name: str
    scopes: tuple[Scope, ...]
    expires_at: datetime | None = None


class TokenRevoked(Happening):
    """A token opens nothing any more."""

    kind: Literal["token.revoked"] = "token.revoked"
    token: str


PeopleEvent = (
    PersonAdded
    | PersonChanged
    | PersonRemoved
    | PersonInvited
    | PersonEntered
    | PersonLeft
    | PersonRefused
    | TokenIssued
    | TokenRevoked
)
