"""Words about people: who may enter, what a role or a token permits, and what proves it; only hashes, no secrets."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from midwatch.terms.term import Term


class Scope(StrEnum):
    """One kind of thing a caller may do; a token carries some of its person's."""

    READ = "read"
    ANSWER = "answer"
    """Answer asks, say something to the night, give the morning's verdicts."""
    OPERATE = "operate"
    """Put projects, work and orders down; start, pause, stop; merge."""
    GOVERN = "govern"
    """People, tokens, settings, the level."""


class Role(StrEnum):
    """What a person is in this house, from least to most."""

    VIEWER = "viewer"
    APPROVER = "approver"
    OPERATOR = "operator"
    OWNER = "owner"

    @property
    def scopes(self) -> frozenset[Scope]:
        """Tell what this role may do: each may do all that the ones before it may."""
        return frozenset(list(Scope)[: list(Role).index(self) + 1])


LOWEST_ROLE: Final[dict[Scope, Role]] = {scope: next(role for role in Role if scope in role.scopes) for scope in Scope}
"""Who at least one must be."""


class KeyKind(StrEnum):
    """How somebody shows who they are."""

    PASSWORD = "password"  # noqa: S105  a word, not a secret
    TOKEN = "token"  # noqa: S105
    LINK = "link"


class Credential(Term):
    """A password by its person, or a token or link by its own hash."""

    id: str
    kind: KeyKind
    subject: str
    secret: str = ""
    role: str = ""
    expires_at: datetime | None = None


class Login(Term):
    """Somebody signed in at one browser."""

    id: str
    person: str
    csrf: str
    seen_at: datetime
    expires_at: datetime
