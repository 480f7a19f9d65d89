"""The placeholder that programs get instead of the credential, and its check."""

import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from midwatch.gateway.metering.providers import CREDENTIALS, CredentialKind, Provider

_LOOKS: Final = {
    ("anthropic", "api_key"): "sk-ant-api03-",
    ("anthropic", "oauth"): "sk-ant-oat01-",
    ("openai", "api_key"): "sk-",
}
MASK: Final = b"x"


@dataclass(frozen=True, slots=True)
class ModelCredential:
    """Which secret the provider needs, and its kind; the secret itself is fetched when it is needed."""

    secret: str
    """Its name in the vault; empty for kind none."""
    kind: CredentialKind = "api_key"

    @property
    def free(self) -> bool:
        """Return whether it is paid by the month (or not at all), so that a request costs no dollars."""
        return self.kind != "api_key"


def new_placeholder(provider: Provider, kind: CredentialKind) -> str:
    """Make the placeholder for the program inside: random, in the format of the real one, and valid nowhere else."""
    return f"{_LOOKS.get((provider.name, kind), '')}midwatch-{secrets.token_hex(24)}"


def derived_placeholder(provider: Provider, kind: CredentialKind, key: bytes, purpose: str) -> str:
    """Derive the same placeholder after a restart, from the key of this installation and its purpose."""
    token = hmac.new(key, f"{provider.name} {kind} {purpose}".encode(), "sha256").hexdigest()[:48]
    return f"{_LOOKS.get((provider.name, kind), '')}midwatch-{token}"


def admitted(placeholder: str, presented: Iterable[str]) -> bool:
    """Whether exactly the placeholder was presented, compared in constant time."""
    expected = placeholder.encode()
    verdicts = [hmac.compare_digest(one.encode("utf-8", "surrogateescape"), expected) for one in presented]
    return bool(verdicts) and all(verdicts)


def presented_in(fields: Iterable[tuple[str, str]]) -> list[str]:
    """Read every credential from the fields of a request, without the word Bearer."""
    found = []
    for name, value in fields:
        if name in CREDENTIALS:
            scheme, _, rest = value.partition(" ")
            found.append(rest.strip() if name == "authorization" and scheme.lower() == "bearer" else value)
    return found


def masked(data: bytes, hidden: str) -> bytes:
    """Replace something that must not pass with as many x."""
    needle = hidden.encode()
    return data.replace(needle, MASK * len(needle)) if needle and needle in data else data
