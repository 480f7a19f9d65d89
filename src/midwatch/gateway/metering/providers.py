"""The providers as data: their addresses, the few allowed paths, and what may pass either way."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import parse_qsl, urlencode

from midwatch.errors import Misuse
from midwatch.terms.agents import ModelAccess

Shape = Literal["anthropic", "openai", "gemini"]
Api = Literal["messages", "responses", "chat", "generate", "count"]
"""The first four are answered by a model and cost money; counting is free."""
CredentialKind = Literal["api_key", "oauth", "none"]

PAID: Final = frozenset({"messages", "responses", "chat", "generate"})
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
_MODEL: Final = r"(?P<model>[A-Za-z0-9][A-Za-z0-9._-]{0,120})"
_BASE: Final = re.compile(r"(https?)://(\[::1\]|[a-z0-9.-]+)(?::([0-9]{1,5}))?(/[A-Za-z0-9._~/-]*)?", re.ASCII)
_PLAIN: Final = re.compile(r"[A-Za-z0-9._~:/+=-]{0,256}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One path that may be requested."""

    method: str
    path: re.Pattern[str]
    api: Api
    queries: frozenset[str] = frozenset()
    """Names in the query that are sent; others are dropped."""


@dataclass(frozen=True, slots=True)
class Provider:
    """The API of one provider."""

    name: str
    base: str
    shape: Shape
    endpoints: tuple[Endpoint, ...]
    key_header: str
    """Where an API key is presented; a subscription token is always a Bearer."""
    key_scheme: str = ""
    asks: frozenset[str] = frozenset()
    """Request headers that are sent, besides the common ones."""
    asks_begin: tuple[str, ...] = ()
    tells: frozenset[str] = frozenset()
    """Answer headers that are passed on, likewise."""
    tells_begin: tuple[str, ...] = ()
    prices: str = ""
    """Its name in the price list, if different."""

    def at(self, base: str) -> "Provider":
        """Use another upstream; unencrypted on this machine only, because the real credential is sent there."""
        found = _BASE.fullmatch(base)
        if found is None or ".." in base or "//" in (found[4] or ""):
            raise Misuse(
                f"{base[:80]!r} cannot be the address of a model.", hint="Write https://host or https://host/path."
            )
        if found[1] == "http" and found[2] not in LOOPBACK:
            raise Misuse(
                f"The models at {found[2]} would be reached without encryption, and the credential could be read.",
                hint="Write https://; plain http is for this machine only.",
            )
        return replace(self, base=base.rstrip("/"))

    def endpoint(self, method: str, path: str) -> tuple[Endpoint, str] | None:
        """Find the endpoint of a path, and the model in the path if there is one."""
        for endpoint in self.endpoints:
            found = endpoint.path.fullmatch(path)
            if found is not None and method == endpoint.method:
                return endpoint, found.groupdict().get("model") or ""
        return None

    def carried(self, name: str) -> bool:
        """Return whether a request header may be sent."""
        return name in _ASKS | self.asks or name.startswith(self.asks_begin or ("\0",))

    def passes_on(self, name: str) -> bool:
        """Return whether an answer header may be passed on."""
        return name in _TELLS | self.tells or name.startswith(self.tells_begin or ("\0",))

    def presented(self, kind: CredentialKind, secret: str) -> Mapping[str, str]:
        """Return the one header that carries the real credential."""
        if kind == "none":
            return {}
        if kind == "oauth":
            return {"authorization": f"Bearer {secret}"}
        return {self.key_header: f"{self.key_scheme}{secret}"}


CREDENTIALS: Final = ("x-api-key", "authorization", "x-goog-api-key", "api-key")
"""Headers in which a program may present its placeholder; none of them is ever sent unchanged."""
KEY_QUERY: Final = "key"

_ASKS: Final = frozenset({"accept", "content-type", "user-agent"})
_TELLS: Final = frozenset(
    {
        *("content-type", "content-encoding", "date", "request-id", "x-request-id", "x-should-retry"),
        *("retry-after", "retry-after-ms"),
    }
)


def _endpoint(method: str, path: str, api: Api, *queries: str) -> Endpoint:
    return Endpoint(method, re.compile(path, re.ASCII), api, frozenset(queries))


ANTHROPIC: Final = Provider(
    name="anthropic",
    base="https://api.anthropic.com",
    shape="anthropic",
    endpoints=(
        _endpoint("POST", "/v1/messages", "messages", "beta"),
        _endpoint("POST", "/v1/messages/count_tokens", "count", "beta"),
    ),
    key_header="x-api-key",
    asks=frozenset({"anthropic-version", "anthropic-beta", "anthropic-dangerous-direct-browser-access", "x-app"}),
    asks_begin=("x-stainless-", "x-claude-code-"),
    tells_begin=("anthropic-ratelimit-", "anthropic-priority-", "anthropic-fast-"),
)
OPENAI: Final = Provider(
    name="openai",
    base="https://api.openai.com",
    shape="openai",
    endpoints=(
        _endpoint("POST", "/v1/responses", "responses"),
        _endpoint("POST", "/v1/chat/completions", "chat"),
    ),
    key_header="authorization",
    key_scheme="Bearer ",
    # Neither openai-organization nor openai-project: the agent may not choose who is billed. No idempotency-key: a
    # server may give another job's answer for it.
    asks=frozenset({"openai-beta", "originator", "version", "session_id", "conversation_id"}),
    asks_begin=("x-stainless-", "x-codex-"),
    tells=frozenset({"openai-processing-ms", "openai-version", "openai-model"}),
    tells_begin=("x-ratelimit-", "x-codex-"),
)
GEMINI: Final = Provider(
    name="gemini",
    base="https://generativelanguage.googleapis.com",
    shape="gemini",
    endpoints=(
        _endpoint("POST", f"/v1beta/models/{_MODEL}:generateContent", "generate"),
        _endpoint("POST", f"/v1beta/models/{_MODEL}:streamGenerateContent", "generate", "alt"),
        _endpoint("POST", f"/v1beta/models/{_MODEL}:countTokens", "count"),
    ),
    key_header="x-goog-api-key",
    asks=frozenset({"x-goog-api-client"}),
    tells=frozenset({"server-timing", "x-gemini-service-tier"}),
    tells_begin=("x-ratelimit-",),
    prices="google",
)
PROVIDERS: Final[Mapping[str, Provider]] = {one.name: one for one in (ANTHROPIC, OPENAI, GEMINI)}


def provider_of(access: ModelAccess) -> Provider:
    """Return the provider that is asked, at its own address or the one that the settings name."""
    provider = PROVIDERS.get(access.provider)
    if provider is None:
        raise Misuse(f"No provider is called {access.provider}.", hint=f"Known: {', '.join(PROVIDERS)}.")
    return provider.at(access.base_url) if access.base_url else provider


def query_of(raw: str, endpoint: Endpoint) -> tuple[str, list[str]]:
    """Rewrite the query with what the endpoint allows, and return the keys in it."""
    pairs = parse_qsl(raw, keep_blank_values=True, max_num_fields=20)
    kept = [(name, value) for name, value in pairs if name in endpoint.queries and _PLAIN.fullmatch(value)]
    return urlencode(kept, safe=":/"), [value for name, value in pairs if name == KEY_QUERY]
