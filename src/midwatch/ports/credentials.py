"""Credentials: for people who sign in, for git and forges, and secrets by name."""

from datetime import datetime
from typing import Protocol

from midwatch.terms.people import Credential, KeyKind, Login


class CredentialStore(Protocol):
    """Stores passwords, tokens, links and logins by their hashes."""

    async def keep(self, credential: Credential) -> None:
        """Store a credential; one with the same id is replaced."""
        ...

    async def find(self, kind: KeyKind, name: str) -> Credential | None:
        """Look a credential up by its id."""
        ...

    async def use_up(self, kind: KeyKind, name: str) -> bool:
        """Remove a credential; only the first caller succeeds."""
        ...

    async def forget(self, subject: str) -> None:
        """Remove every credential and login of a person or a token."""
        ...

    async def withdraw_links(self) -> None:
        """Remove every one-time link that was not used yet."""
        ...

    async def sign_in(self, login: Login) -> None:
        """Store a login."""
        ...

    async def login(self, name: str) -> Login | None:
        """Look a login up by its hash."""
        ...

    async def seen(self, name: str, at: datetime) -> None:
        """Record that a login is in use."""
        ...

    async def sign_out(self, name: str) -> None:
        """End one login."""
        ...

    async def sign_out_everywhere(self, person: str) -> None:
        """End every login of a person."""
        ...


class Revealing(Protocol):
    """A secret value that is shown only on request."""

    def reveal(self) -> str:
        """Return the value itself; the caller must protect it."""
        ...


class SecretSource(Protocol):
    """Gives secrets by name; the vault implements it."""

    async def secret(self, name: str) -> Revealing:
        """Fetch one from where the person stores it."""
        ...


class GitCredentials(Protocol):
    """Knows which credential to show to which host."""

    async def key_for(self, url: str) -> tuple[str, str]:
        """Return the user name and the password for a URL; two empty strings if there are none."""
        ...


class ForgeToken(Protocol):
    """The token of one forge."""

    async def reveal(self) -> str:
        """Return the token itself, from where the person stores it."""
        ...

    def refused(self) -> None:
        """Record that the forge refused it, so that it is fetched again next time."""
        ...
