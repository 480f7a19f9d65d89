"""People: who may log in, what a role or a token permits, and what proves it; only hashes, no secrets."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from midwatch.terms.orders import Limits
from midwatch.terms.term import Term
from midwatch.terms.trust import Level


class Scope(StrEnum):
    """One kind of thing a caller may do; a token carries some of its person's."""

    READ = "read"
    ANSWER = "answer"
    """Answer asks, send the night a message, give the morning's verdicts."""
    OPERATE = "operate"
    """Edit projects, work and orders; start, pause, stop; merge."""
    GOVERN = "govern"
    """People, tokens, settings, the level."""


class Role(StrEnum):
    """A person's role, from least to most rights."""

    VIEWER = "viewer"
    APPROVER = "approver"
    OPERATOR = "operator"
    OWNER = "owner"

    @property
    def scopes(self) -> frozenset[Scope]:
        """Return what this role may do: each role includes the ones before it."""
        return frozenset(list(Scope)[: list(Role).index(self) + 1])


LOWEST_ROLE: Final[dict[Scope, Role]] = {scope: next(role for role in Role if scope in role.scopes) for scope in Scope}
"""The least role that is required."""


class KeyKind(StrEnum):
    """How a person authenticates."""

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
    """A person's session in one browser."""

    id: str
    person: str
    csrf: str
    seen_at: datetime
    expires_at: datetime


class GrantedCeilings(Term):
    """How far orders, commands and answers of people below an owner may go: the usual, and what an owner adds to it."""

    level: Level
    session: Limits
    job_usd: float
    job_minutes: int
    domains: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    """The only tools that they may name; empty: any."""
