"""A job's request to a model: checked, and rewritten for the provider."""

import json
from dataclasses import dataclass
from typing import Any

from midwatch.gateway.metering.client_connection import RequestHead
from midwatch.gateway.metering.credentials import admitted, masked, presented_in
from midwatch.gateway.metering.providers import PAID, Endpoint, Provider, Shape, query_of
from midwatch.gateway.metering.refusals import RequestDeclined
from midwatch.gateway.metering.requests.body_rules import objection
from midwatch.gateway.metering.requests.bounds import FieldsSeen, RequestBounds, bounds_of


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
    bounds: RequestBounds
    streams: bool
    """Whether its answer comes in parts; a provider finishes any other answer, also after the client left."""

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
    body, seen = masked(body, placeholder), FieldsSeen()
    try:
        said: Any = json.loads(body.decode(), object_pairs_hook=seen)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise RequestDeclined(400, "The body of the request is not a JSON object.")
    model = way.model or said.get("model")
    if not isinstance(model, str) or not model or len(model) > 120:
        raise RequestDeclined(400, "The request names no model.")
    if why := objection(way.shape, said):
        raise RequestDeclined(400, why, hint="Leave it out of the request.")
    api = way.endpoint.api
    bounds = bounds_of(way.shape, api, said, len(body), seen)
    streams = "streamGenerateContent" in way.target or said.get("stream") is True
    if api == "chat" and said.get("stream"):
        body = _with_usage(said, body)
    if api == "messages" and "fallbacks" in said:
        # Claude Code names a second model for answers that are declined; the job has one.
        body = json.dumps({name: value for name, value in said.items() if name != "fallbacks"}).encode()
    return ModelRequest(way, model, body, bounds, streams)


def _with_usage(said: dict[str, Any], body: bytes) -> bytes:
    """Ask for the usage of a stream, which chat completions report only on request."""
    options = said.get("stream_options")
    options = options if isinstance(options, dict) else {}
    if options.get("include_usage") is True:
        return body
    return json.dumps({**said, "stream_options": {**options, "include_usage": True}}).encode()
