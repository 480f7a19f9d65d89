"""Words about what opens the door; only hashes, never the secret itself."""

from datetime import datetime
from enum import StrEnum

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
