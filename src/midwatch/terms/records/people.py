"""Rows about people: who may log in, and what programs may do for them."""

from datetime import datetime

from midwatch.terms.people import Role, Scope
from midwatch.terms.term import Term


class PersonRow(Term):
    """A person who may log in, or once could."""

    id: str
    number: int
    name: str
    role: Role
    removed: bool
    last_entered_at: datetime | None
    created_at: datetime


class TokenRow(Term):
    """A token; only its bearer has the secret."""

    id: str
    number: int
    person: str
    name: str
    scopes: tuple[Scope, ...]
    revoked: bool
    expires_at: datetime | None
    created_at: datetime
