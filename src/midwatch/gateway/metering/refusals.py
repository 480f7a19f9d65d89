"""Refusals in the provider's own format, so that each program understands them like the provider's errors."""

import json
from typing import Final

from midwatch.errors import Refused
from midwatch.gateway.metering.providers import Shape

_ANTHROPIC: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}
_GEMINI: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "RESOURCE_EXHAUSTED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_OPENAI_CODES: Final = {401: "invalid_api_key", 402: "insufficient_quota", 404: "not_found", 429: "rate_limit_exceeded"}


class RequestDeclined(Refused):
    """A request that is not sent, or an answer that is not passed on."""

    def __init__(self, answer: int, why: str, hint: str = "") -> None:
        super().__init__(why, hint=hint or "Check the model's settings and the limits of the orders.")
        self.answer = answer


def error_body(shape: Shape, status: int, sentence: str) -> bytes:
    """Build an error as this provider would."""
    if shape == "anthropic":
        kind = _ANTHROPIC.get(status, "api_error")
        said: object = {"type": "error", "error": {"type": kind, "message": sentence}}
    elif shape == "openai":
        kind = "invalid_request_error" if status < 429 and status != 402 else "server_error"
        kind = "insufficient_quota" if status == 402 else kind
        said = {"error": {"message": sentence, "type": kind, "param": None, "code": _OPENAI_CODES.get(status)}}
    else:
        said = {"error": {"code": status, "message": sentence, "status": _GEMINI.get(status, "INTERNAL")}}
    return json.dumps(said).encode()
