"""A job's request to a model: checked, and rewritten for the provider."""

import json
from dataclasses import dataclass
from typing import Any, Final

from midwatch.gateway.metering.client_connection import RequestHead
from midwatch.gateway.metering.credentials import admitted, masked, presented_in
from midwatch.gateway.metering.grant import Grant
from midwatch.gateway.metering.providers import PAID, Endpoint, Provider, Shape, query_of
from midwatch.gateway.metering.refusals import RequestDeclined
from midwatch.gateway.metering.requests.answers_received import AnswersReceived
from midwatch.gateway.metering.requests.body_rules import objection
from midwatch.gateway.metering.requests.bounds import FieldsSeen, RequestBounds, bounds_of
from midwatch.gateway.metering.requests.content import Said, content_parts, counted
from midwatch.gateway.metering.requests.references import kept_at, left_out, names_of_answers

LONGEST_MODEL: Final = 120
NOT_ALLOWED: Final = "The settings of this agent do not allow the model {!r}. To allow it, add it there to also_models."


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
    kept: bool = False
    """Whether the provider keeps its answer, so that a later request may name it."""

    @property
    def paid(self) -> bool:
        return self.way.endpoint.api in PAID


def target_of(provider: Provider, placeholder: str, heard: RequestHead) -> RequestTarget:
    """Judge the head of a request: its credential and its path."""
    path, _, raw_query = heard.target.partition("?")
    found = provider.endpoint(heard.method, path)
    if found is None:
        plain = f"This path of {provider.name.capitalize()} is not available here; only requests to models are."
        raise RequestDeclined(404, kept_at(path) or plain)
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


def model_request(way: RequestTarget, grant: Grant, received: AnswersReceived, body: bytes) -> ModelRequest:
    """Parse the body of a request: which model, how much, and whether it is allowed at all."""
    body, seen = masked(body, grant.placeholder), FieldsSeen()
    try:
        said: Any = json.loads(body.decode(), object_pairs_hook=seen)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise RequestDeclined(400, "The body of the request is not a JSON object.")
    model = _model(way, grant, said)
    if why := objection(way.shape, said):
        raise RequestDeclined(400, why, hint="Leave it out of the request.")
    api = way.endpoint.api
    bounds = bounds_of(way.shape, api, said, len(body), seen).taking_in(_brought(way.shape, said, received))
    streams = "streamGenerateContent" in way.target or said.get("stream") is True
    if api == "chat" and said.get("stream"):
        body = _with_usage(said, body)
    if out := left_out(way.shape, said):
        body = json.dumps({name: value for name, value in said.items() if name not in out}).encode()
    kept = api == "responses" and said.get("store") is not False
    return ModelRequest(way, model, body, bounds, streams, kept)


def _model(way: RequestTarget, grant: Grant, said: Said) -> str:
    """Return the model of a request; every name of one in it must be one that the job may ask."""
    inner = [one.get("model") for one in counted(way.shape, said)]
    named = [one for one in (way.model, said.get("model"), *inner) if one]
    if not named or not all(isinstance(one, str) and len(one) <= LONGEST_MODEL for one in named):
        raise RequestDeclined(400, "The request names no model.")
    names = {one.removeprefix("models/") if way.shape == "gemini" else one for one in named}
    if len(names) > 1:
        raise RequestDeclined(400, "The request names two models.")
    model: str = names.pop()
    if model not in grant.models:
        raise RequestDeclined(400, NOT_ALLOWED.format(model))
    return model


def _brought(shape: Shape, said: Said, received: AnswersReceived) -> int:
    """Return the tokens that earlier answers bring which a request names; another job's may not be named."""
    answers: dict[str, int] = {}
    for row, name in names_of_answers(shape, said, content_parts(shape, said)):
        one = received.brought_by(name)
        if one is None:
            raise RequestDeclined(400, row.sentence)
        answers[one.answer] = one.tokens
    return sum(answers.values())


def _with_usage(said: dict[str, Any], body: bytes) -> bytes:
    """Ask for the usage of a stream, which chat completions report only on request."""
    options = said.get("stream_options")
    options = options if isinstance(options, dict) else {}
    if options.get("include_usage") is True:
        return body
    return json.dumps({**said, "stream_options": {**options, "include_usage": True}}).encode()
