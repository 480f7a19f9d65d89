"""A job's request to a model: checked, and rewritten for the provider."""

import json
from dataclasses import dataclass
from typing import Any, Final

from midwatch.gateway.metering.body_rules import objection
from midwatch.gateway.metering.client_connection import RequestHead
from midwatch.gateway.metering.credentials import admitted, masked, presented_in
from midwatch.gateway.metering.providers import PAID, Api, Endpoint, Provider, Shape, query_of
from midwatch.gateway.metering.refusals import RequestDeclined
from midwatch.rules.budget.spending import estimated_tokens, expected_output

_OUTPUTS: Final[dict[Api, tuple[str, ...]]] = {
    "messages": ("max_tokens",),
    "responses": ("max_output_tokens",),
    "chat": ("max_completion_tokens", "max_tokens"),
    "generate": ("maxOutputTokens",),
}


@dataclass(frozen=True, slots=True)
class RequestTarget:
    """The destination of a request: known from its head alone."""

    shape: Shape
    endpoint: Endpoint
    target: str
    model: str
    """Named in the path, or empty."""
    fields: tuple[tuple[str, str], ...]
    """The headers to send; no credential among them."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request as it will be sent, except for the credential."""

    way: RequestTarget
    model: str
    body: bytes
    input_guess: int
    output_guess: int

    @property
    def paid(self) -> bool:
        return self.way.endpoint.api in PAID


def target_of(provider: Provider, placeholder: str, heard: RequestHead) -> RequestTarget:
    """Judge the head of a request: its credential and its path."""
    path, _, raw_query = heard.target.partition("?")
    found = provider.endpoint(heard.method, path)
    if found is None:
        raise RequestDeclined(
            404, f"This path of {provider.name.capitalize()} is not available here; only requests to models are."
        )
    endpoint, model = found
    try:
        query, keys = query_of(raw_query, endpoint)
    except ValueError:
        raise RequestDeclined(400, "The query of the request cannot be read.") from None
    if not admitted(placeholder, [*presented_in(heard.fields), *keys]):
        raise RequestDeclined(401, "Authentication failed: this is not the credential of this job.")
    target = f"{path}?{query}" if query else path
    if placeholder in target:
        raise RequestDeclined(400, "A credential does not belong there.")
    dropped = {word.strip().lower() for value in heard.values("connection") for word in value.split(",")}
    fields = tuple(
        (name, value)
        for name, value in heard.fields
        if provider.carried(name) and name not in dropped and placeholder not in value
    )
    return RequestTarget(provider.shape, endpoint, target, model, fields)


def model_request(way: RequestTarget, placeholder: str, body: bytes) -> ModelRequest:
    """Parse the body of a request: which model, how much, and whether it is allowed at all."""
    body = masked(body, placeholder)
    try:
        said: Any = json.loads(body, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise RequestDeclined(400, "The body of the request is not a JSON object.")
    model = way.model or said.get("model")
    if not isinstance(model, str) or not model or len(model) > 120:
        raise RequestDeclined(400, "The request names no model.")
    if why := objection(way.shape, said):
        raise RequestDeclined(400, why, hint="Leave it out of the request.")
    if way.endpoint.api == "chat" and said.get("stream"):
        body = _with_usage(said, body)
    asked, answers = _most(way.endpoint.api, said)
    return ModelRequest(way, model, body, estimated_tokens(len(body)), expected_output(asked, answers))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a field that is named twice: we would judge the last one, and the provider may use the first."""
    said = dict(pairs)
    if len(said) != len(pairs):
        raise RequestDeclined(400, "The body of the request names a field twice.")
    return said


def _with_usage(said: dict[str, Any], body: bytes) -> bytes:
    """Ask for the usage of a stream, which chat completions report only on request."""
    options = said.get("stream_options")
    options = options if isinstance(options, dict) else {}
    if options.get("include_usage") is True:
        return body
    return json.dumps({**said, "stream_options": {**options, "include_usage": True}}).encode()


def _most(api: Api, said: dict[str, Any]) -> tuple[int | None, int]:
    inner = said.get("generationConfig") if api == "generate" else said
    inner = inner if isinstance(inner, dict) else {}
    limits = [inner.get(name) for name in _OUTPUTS.get(api, ())]
    asked = next((limit for limit in limits if isinstance(limit, int) and not isinstance(limit, bool)), None)
    answers = inner.get("candidateCount" if api == "generate" else "n")
    return asked, min(answers, 128) if isinstance(answers, int) else 1
