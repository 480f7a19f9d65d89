"""Words about what opens the door; only hashes, never the secret itself."""

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from midwatch.terms.term import Term


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


class Keys(Protocol):
    """Keeps what opens the door."""

    async def keep(self, credential: Credential) -> None:
        """Keep a credential; one with the same id is replaced."""
        ...

    async def find(self, kind: KeyKind, name: str) -> Credential | None:
        """Look a credential up by its id."""
        ...

    async def use_up(self, kind: KeyKind, name: str) -> bool:
        """Take a credential away; only the first who tries succeeds."""
        ...

    async def forget(self, subject: str) -> None:
        """Drop everything that opens the door for a person or a token."""
        ...

    async def sign_in(self, login: Login) -> None:
        """Remember a login."""
        ...

    async def login(self, name: str) -> Login | None:
        """Look a login up by its hash."""
        ...

    async def seen(self, name: str, at: datetime) -> None:
        """Note that a login is in use."""
        ...

    async def sign_out(self, name: str) -> None:
        """End one login."""
        ...

    async def sign_out_everywhere(self, person: str) -> None:
        """End every login of a person."""
        ...
