"""Asks a provider which models it offers with a credential."""

import asyncio
import json
from datetime import datetime
from typing import Any, Final

from midwatch.errors import MidwatchError
from midwatch.gateway.hello import body_of, credential_of, fields_of
from midwatch.gateway.metering.limits import ProxyTimeouts
from midwatch.gateway.metering.providers import provider_of
from midwatch.gateway.metering.refusals import RequestDeclined
from midwatch.gateway.metering.upstream import OutgoingRequest, SendProgress, Upstream
from midwatch.ports.credentials import SecretSource
from midwatch.rules.model_choice import OfferedModel
from midwatch.terms.agents import ModelAccess

SECONDS: Final = 15.0
PATHS: Final = {
    "anthropic": "/v1/models?limit=1000",
    "openai": "/v1/models",
    "gemini": "/v1beta/models?pageSize=1000",
}
OK: Final = 200


async def offered_models(access: ModelAccess, vault: SecretSource, upstream: Upstream) -> tuple[OfferedModel, ...]:
    """Return the provider's list; empty if it has none, or does not give it to this credential."""
    try:
        provider = provider_of(access)
        secret = await credential_of(access, vault)
    except MidwatchError:
        return ()
    asking = OutgoingRequest("GET", provider.base + PATHS[provider.shape], fields_of(access, provider, secret), b"")
    patience = ProxyTimeouts(first=SECONDS + 1, quiet=SECONDS + 1)
    try:
        async with asyncio.timeout(SECONDS), upstream.answer(asking, patience, SendProgress()) as response:
            body = await body_of(response, SECONDS) if response.status_code == OK else b""
    except (RequestDeclined, TimeoutError):
        return ()
    return tuple(_read(body))


def _read(body: bytes) -> list[OfferedModel]:
    try:
        found = json.loads(body)
        listed = found.get("data") or found.get("models") or []
        return [OfferedModel(_name(one), _created(one)) for one in listed]
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError):
        return []


def _name(one: dict[str, Any]) -> str:
    return str(one.get("id") or one["name"]).removeprefix("models/")


def _created(one: dict[str, Any]) -> float:
    """Read when it was published, in Unix time; 0 where the list does not say."""
    if "created_at" in one:
        return datetime.fromisoformat(str(one["created_at"])).timestamp()
    return float(one.get("created", 0))
