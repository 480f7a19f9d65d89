"""What programs in a sandbox are told about their model: where our door is, and what to present there."""

from collections.abc import Mapping
from typing import Final

from midwatch.gateway.metering.grant import Grant

PORTS: Final[Mapping[str, int]] = {"anthropic": 8119, "openai": 8120, "gemini": 8121}
"""The doors' numbers inside; every room has a network of its own."""

_BASES: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic": ("ANTHROPIC_BASE_URL",),
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "gemini": ("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"),
}
_KEYS: Final[Mapping[tuple[str, str], str]] = {
    ("anthropic", "api_key"): "ANTHROPIC_API_KEY",
    ("anthropic", "oauth"): "CLAUDE_CODE_OAUTH_TOKEN",
    ("openai", "api_key"): "OPENAI_API_KEY",
    ("gemini", "api_key"): "GEMINI_API_KEY",
}


def address(grant: Grant) -> str:
    """Say where the door to the model is, seen from inside."""
    return f"http://127.0.0.1:{PORTS[grant.provider.name]}"


def base_url(grant: Grant) -> str:
    """Say it as programs expect it in their environment; OpenAI's want the version with it."""
    return f"{address(grant)}{'/v1' if grant.provider.name == 'openai' else ''}"


def environment(grant: Grant) -> dict[str, str]:
    """Give the variables by which programs find the door; exactly one credential, of the real one's kind."""
    name, kind = grant.provider.name, grant.credential.kind
    told = dict.fromkeys(_BASES[name], base_url(grant))
    # A program wants some key even where the model wants none.
    variable = _KEYS.get((name, kind)) or _KEYS[name, "api_key"]
    return {**told, variable: grant.placeholder}
