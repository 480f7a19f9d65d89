"""A hello to a model: the smallest request its API accepts, to check that provider, model and credential agree."""

import asyncio
import json
from contextlib import aclosing
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from midwatch.errors import MidwatchError, Misuse
from midwatch.gateway.hello_result import HelloAnswer, HelloOutcome, HelloResult, judge
from midwatch.gateway.metering.counting.decompression import Decompressor, UnreadableEncoding
from midwatch.gateway.metering.limits import ProxyTimeouts
from midwatch.gateway.metering.provider_quota import readings
from midwatch.gateway.metering.providers import Provider, provider_of
from midwatch.gateway.metering.refusals import RequestDeclined
from midwatch.gateway.metering.upstream import OutgoingRequest, SendProgress, Upstream, parts
from midwatch.ports.clock import Clock
from midwatch.ports.credentials import SecretSource
from midwatch.terms.agents import ModelAccess

if TYPE_CHECKING:
    import httpx

SECONDS: Final = 30.0
LARGEST: Final = 256 * 1024
WORD: Final = "Hello"
LEAST_RESPONSE: Final = 16
"""The smallest maximum that a Responses API accepts; the others accept one."""
SUBSCRIPTION: Final = "oauth-2025-04-20"


async def hello(
    access: ModelAccess,
    vault: SecretSource,
    upstream: Upstream,
    clock: Clock,
    *,
    chat: bool = False,
    seconds: float = SECONDS,
) -> HelloResult:
    """Send one hello and return the result; `chat` asks an OpenAI model the way most other programs do."""
    began = monotonic()
    try:
        provider = provider_of(access)
        api, path, body = _question(access, provider, chat=chat)
        secret = await credential_of(access, vault)
    except MidwatchError as problem:
        return HelloResult(HelloOutcome.NOT_ASKED, f"{problem.message} {problem.hint}".strip())
    leaving = OutgoingRequest(
        "POST", provider.base + path, fields_of(access, provider, secret), json.dumps(body).encode()
    )
    patience = ProxyTimeouts(first=seconds + 1, quiet=seconds + 1)  # the limit covers the whole request
    try:
        async with asyncio.timeout(seconds), upstream.answer(leaving, patience, SendProgress()) as response:
            said = await body_of(response, seconds)
            fields, status = dict(response.headers), response.status_code
    except RequestDeclined as problem:
        return HelloResult(HelloOutcome.UNREACHABLE, _unreachable(access, problem.message))
    except TimeoutError:
        return HelloResult(
            HelloOutcome.UNREACHABLE, _unreachable(access, f"No complete answer came within {seconds:g} seconds.")
        )
    ms = round((monotonic() - began) * 1000)
    limits = tuple(readings(access.provider, fields, status, clock.now()))
    return judge(HelloAnswer(access, api, status, said, secret, limits, ms))


def _question(access: ModelAccess, provider: Provider, *, chat: bool) -> tuple[str, str, dict[str, Any]]:
    """Build the smallest request, and check that its path is one of the few that may leave."""
    asked = [{"role": "user", "content": WORD}]
    body: dict[str, Any]
    if provider.shape == "anthropic":
        path, body = "/v1/messages", {"model": access.model, "max_tokens": 1, "messages": asked}
    elif provider.shape == "gemini":
        path = f"/v1beta/models/{access.model}:generateContent"
        body = {"contents": [{"role": "user", "parts": [{"text": WORD}]}], "generationConfig": {"maxOutputTokens": 1}}
    elif chat:
        # Compatible servers know the older name; OpenAI itself no longer accepts it for newer models.
        most = "max_tokens" if access.base_url else "max_completion_tokens"
        path, body = "/v1/chat/completions", {"model": access.model, most: 1, "messages": asked}
    else:
        path = "/v1/responses"
        body = {"model": access.model, "input": WORD, "max_output_tokens": LEAST_RESPONSE, "store": False}
    found = provider.endpoint("POST", path)
    if found is None:
        raise Misuse(f"No model can be called {access.model!r}.", hint="Look at the provider's list of models.")
    return found[0].api, path, body


async def credential_of(access: ModelAccess, vault: SecretSource) -> str:
    if access.kind == "none":
        return ""
    value = (await vault.secret(access.secret)).reveal()
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise Misuse(
            f"The credential {access.secret} has invalid characters.", hint="Store it again without other text."
        )
    return value


def fields_of(access: ModelAccess, provider: Provider, secret: str) -> tuple[tuple[str, str], ...]:
    plain = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity"}
    if provider.shape == "anthropic":
        plain["anthropic-version"] = "2023-06-01"
        if access.kind == "oauth":
            plain["anthropic-beta"] = SUBSCRIPTION
    return tuple((plain | dict(provider.presented(access.kind, secret))).items())


async def body_of(response: "httpx.Response", seconds: float) -> bytes:
    """Read the answer within limits; an unreadable one counts as empty."""
    body = bytearray()
    try:
        decoder = Decompressor(response.headers.get("content-encoding", ""))
        async with aclosing(parts(response, seconds)) as coming:
            async for data in coming:
                body += decoder.feed(data)
                if len(body) > LARGEST:
                    return b""
    except UnreadableEncoding:
        return b""
    return bytes(body)


def _unreachable(access: ModelAccess, why: str) -> str:
    return f"{access.base_url or access.provider} gives no answer. {why}"
