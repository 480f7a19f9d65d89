"""Logins, refused logins, people and tokens."""

from datetime import datetime
from typing import Literal

from midwatch.journal.events.happening import Happening
from midwatch.terms.people import Role, Scope


class PersonAdded(Happening):
    """A person was given access."""

    kind: Literal["person.added"] = "person.added"
    person: str
    name: str
    role: Role


class PersonChanged(Happening):
    """A person's role was changed."""

    kind: Literal["person.changed"] = "person.changed"
    person: str
    role: Role


class PersonRemoved(Happening):
    """A person's access was removed; what they did stays recorded."""

    kind: Literal["person.removed"] = "person.removed"
    person: str


class PersonInvited(Happening):
    """A one-time link was made; the first to open it sets name and password."""

    kind: Literal["person.invited"] = "person.invited"
    role: Role
    person: str = ""
    """Whose password it resets; empty for a new person."""
    expires_at: datetime


class PersonEntered(Happening):
    """A person logged in."""

    kind: Literal["person.entered"] = "person.entered"
    person: str
    way: Literal["password", "link"]


class PersonLeft(Happening):
    """A person logged out, here or everywhere."""

    kind: Literal["person.left"] = "person.left"
    person: str
    everywhere: bool = False


class PersonRefused(Happening):
    """A login failed. After some attempts further ones are no longer recorded one by one."""

    kind: Literal["person.refused"] = "person.refused"
    name: str
    why: Literal["password", "throttled", "link"]


class TokenIssued(Happening):
    """A token was issued: a program may act for a person within these scopes."""

    kind: Literal["token.issued"] = "token.issued"
    token: str
    person: str
    name: str
    scopes: tuple[Scope, ...]
    expires_at: datetime | None = None


class TokenRevoked(Happening):
    """A token was revoked."""

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
