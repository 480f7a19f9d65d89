"""Environment variables for programs in a sandbox: the address of the model proxy, and the placeholder."""

from collections.abc import Mapping
from typing import Final

from midwatch.gateway.metering.grant import Grant

PORTS: Final[Mapping[str, int]] = {"anthropic": 8119, "openai": 8120, "gemini": 8121}
"""Ports of the proxies inside the sandbox; every sandbox has its own network."""

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
    """Address of the model proxy, as seen from inside."""
    return f"http://127.0.0.1:{PORTS[grant.provider.name]}"


def base_url(grant: Grant) -> str:
    """Return it in the form that programs expect; OpenAI's include the version."""
    return f"{address(grant)}{'/v1' if grant.provider.name == 'openai' else ''}"


def environment(grant: Grant) -> dict[str, str]:
    """The variables; exactly one credential, of the kind of the real one."""
    name, kind = grant.provider.name, grant.credential.kind
    result = dict.fromkeys(_BASES[name], base_url(grant))
    # A program needs some key even where the model needs none.
    variable = _KEYS.get((name, kind)) or _KEYS[name, "api_key"]
    return {**result, variable: grant.placeholder}
