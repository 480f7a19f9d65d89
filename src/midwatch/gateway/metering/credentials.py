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
    """Which secret opens the provider, and of what kind it is; the secret itself is fetched when it is needed."""

    secret: str
    """Its name in the vault; empty for kind none."""
    kind: CredentialKind = "api_key"

    @property
    def free(self) -> bool:
        """Tell whether what it opens is paid by the month (or not at all), so that a request costs no dollars."""
        return self.kind != "api_key"


def new_placeholder(provider: Provider, kind: CredentialKind) -> str:
    """Make what the program inside is given: random, of the look of the real one, and good nowhere else."""
    return f"{_LOOKS.get((provider.name, kind), '')}midwatch-{secrets.token_hex(24)}"


def derived_placeholder(provider: Provider, kind: CredentialKind, key: bytes, purpose: str) -> str:
    """Make the same placeholder again after a restart, from the key of this installation and its purpose."""
    token = hmac.new(key, f"{provider.name} {kind} {purpose}".encode(), "sha256").hexdigest()[:48]
    return f"{_LOOKS.get((provider.name, kind), '')}midwatch-{token}"


def admitted(placeholder: str, presented: Iterable[str]) -> bool:
    """Whether the placeholder and nothing else was presented, compared in constant time."""
    expected = placeholder.encode()
    verdicts = [hmac.compare_digest(one.encode("utf-8", "surrogateescape"), expected) for one in presented]
    return bool(verdicts) and all(verdicts)


def presented_in(fields: Iterable[tuple[str, str]]) -> list[str]:
    """Read every credential out of the fields of a request, without the word Bearer."""
    found = []
    for name, value in fields:
        if name in CREDENTIALS:
            scheme, _, rest = value.partition(" ")
            found.append(rest.strip() if name == "authorization" and scheme.lower() == "bearer" else value)
    return found


def masked(data: bytes, hidden: str) -> bytes:
    """Put as many x in the place of something that must not pass."""
    needle = hidden.encode()
    return data.replace(needle, MASK * len(needle)) if needle and needle in data else data
