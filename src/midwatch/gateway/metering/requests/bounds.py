"""The most that a request can be billed for, read from its body; and its output limit, written into it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from midwatch.gateway.metering.providers import Api, Shape
from midwatch.gateway.metering.refusals import RequestDeclined
from midwatch.gateway.metering.requests.content import (
    CLIENT_RUN,
    CONFIGS,
    INLINE,
    MIME,
    Said,
    content_parts,
    tools_in,
)
from midwatch.gateway.metering.requests.model_numbers import BUILT_IN_TOOL, DOCUMENT, IMAGE, OVERHEAD
from midwatch.rules.budget.spending import estimated_tokens

LIMITS: Final[Mapping[Api, tuple[str, ...]]] = {
    "messages": ("max_tokens",),
    "responses": ("max_output_tokens",),
    "chat": ("max_completion_tokens", "max_tokens"),
    "generate": ("maxOutputTokens", "max_output_tokens"),
}
"""Where each API names the limit of one answer; the first is written where a request names none."""
ANSWERS: Final[Mapping[Api, tuple[str, ...]]] = {
    "chat": ("n", "best_of"),
    "generate": ("candidateCount", "candidate_count"),
}
THINKING: Final = (("thinking", "budget_tokens"), ("thinkingConfig", "thinkingBudget"))
LEAST_THINKING: Final = 1_024


@dataclass(frozen=True, slots=True)
class RequestBounds:
    """The most that a request can be billed for; all in tokens."""

    input: int
    """At most: tokenizers work on bytes, so a text has no more tokens than bytes."""
    likely: int
    """Of ordinary text."""
    limit: int | None
    """Of each answer, as the request names it; None where it names none."""
    answers: int = 1
    caches: bool = False
    """Whether the provider may write its input into a cache, which costs more."""
    caches_1h: bool = False

    def taking_in(self, tokens: int) -> "RequestBounds":
        """Add what the provider takes in beside the body, because the request names it."""
        return replace(self, input=self.input + tokens, likely=self.likely + tokens)


class FieldsSeen:
    """Receives every object of a body as it is parsed: refuses a field that is named twice, and notes caches."""

    def __init__(self) -> None:
        self.caches = self.caches_1h = False

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Refuse a field that is named twice: we would judge the last one, and the provider may use the first."""
        said = dict(pairs)
        if len(said) != len(pairs):
            raise RequestDeclined(400, "The body of the request names a field twice.")
        self.caches |= "cache_control" in said
        self.caches_1h |= said.get("ttl") == "1h"
        return said


def bounds_of(shape: Shape, api: Api, said: Said, size: int, seen: FieldsSeen) -> RequestBounds:
    """Read the bounds from a body of so many bytes."""
    inner = _config(said) if api == "generate" else said
    limits = [number for name in LIMITS.get(api, ()) if (number := _whole(inner, name)) is not None]
    answers = [number for name in ANSWERS.get(api, ()) if (number := _whole(inner, name)) is not None]
    # Only Anthropic takes an answer without a token, which fills its cache; elsewhere this means no limit.
    named = [limit for limit in limits if limit > 0 or (limit == 0 and api == "messages")]
    limit = max(named, default=None)
    if limit is not None:
        limit = max(limit, _thinking(inner))
    most, likely = _input(shape, said, size)
    caches = shape == "openai" or seen.caches  # newer models of OpenAI write their cache unasked
    return RequestBounds(most, likely, limit, max(1, *answers, 1), caches, seen.caches_1h)


def _input(shape: Shape, said: Said, size: int) -> tuple[int, int]:
    parts = list(content_parts(shape, said))
    pictures = [data for part in parts if (data := _picture(shape, part))]
    documents = sum(_is_document(shape, part) for part in parts)
    tools = sum(_is_built_in(tool) for tool in tools_in(shape, said, parts)) if shape == "anthropic" else 0
    text = max(0, size - sum(map(len, pictures)))
    beside = OVERHEAD + tools * BUILT_IN_TOOL
    most = text + beside + len(pictures) * IMAGE[shape] + documents * DOCUMENT
    return most, estimated_tokens(text) + len(pictures) * IMAGE[shape] // 4


def _picture(shape: Shape, part: Said) -> str:
    """Return the data of a picture, which are not text; a picture is billed by its size in pixels."""
    if shape == "anthropic":
        data = part.get("source") if part.get("type") == "image" else None
        found = data.get("data") if isinstance(data, Mapping) and data.get("type") == "base64" else None
    elif shape == "gemini":
        data = _inline(part)
        found = data.get("data") if isinstance(data, Mapping) and _mime(data).startswith("image/") else None
    else:
        data = part.get("image_url")
        found = data.get("url") if isinstance(data, Mapping) else data
    return found if isinstance(found, str) else ""


def _is_document(shape: Shape, part: Said) -> bool:
    """Whether a part is a file with pages, which are billed by their number and not by their bytes."""
    if shape == "anthropic":
        source = part.get("source")
        return part.get("type") == "document" and isinstance(source, Mapping) and source.get("type") == "base64"
    if shape == "gemini":
        data = _inline(part)
        return isinstance(data, Mapping) and not _mime(data).startswith(("image/", "text/"))
    return "file_data" in part


def _inline(part: Said) -> object:
    return next((part[name] for name in INLINE if part.get(name)), None)


def _mime(data: Mapping[str, Any]) -> str:
    return next((str(data[name]).lower() for name in MIME if data.get(name)), "")


def _is_built_in(tool: object) -> bool:
    kind = tool.get("type") if isinstance(tool, Mapping) else None
    return isinstance(kind, str) and kind.startswith(CLIENT_RUN)


def _config(said: Said) -> Said:
    found = [said[name] for name in CONFIGS if isinstance(said.get(name), Mapping)]
    if len(found) > 1:
        raise RequestDeclined(400, "The request names generationConfig twice, in two spellings.")
    return found[0] if found else {}


def _whole(said: Said, name: str) -> int | None:
    """Read a number as providers do, who also take 5.0 and "5"; what they might take for another is refused."""
    value = said.get(name)
    if value is None:
        return None
    try:
        number = int(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or (isinstance(value, float) and number != value):
        raise RequestDeclined(400, f"{name} is not a whole number.", hint="Write it as a number without a fraction.")
    return number


def _thinking(said: Said) -> int:
    """Return the budget for thinking, which some providers count beside the limit of the answer."""
    for name, field in THINKING:
        inner = said.get(name)
        if isinstance(inner, Mapping) and isinstance(budget := inner.get(field), int):
            return budget
    return 0


def with_limit(api: Api, body: bytes, limit: int, *, name: str = "") -> bytes:
    """Write the limit of one answer into a body, in place of a higher one; `name` is what this server calls it."""
    said: dict[str, Any] = json.loads(body)
    inner = said
    if api == "generate":
        spelled = next((one for one in CONFIGS if isinstance(said.get(one), dict)), CONFIGS[0])
        inner = said.setdefault(spelled, {})
        if not isinstance(inner, dict):
            inner = said[spelled] = {}
    named = [one for one in LIMITS[api] if inner.get(one) is not None]
    for one in named or [name or LIMITS[api][0]]:
        inner[one] = min(limit, old) if (old := _whole(inner, one) or 0) > 0 else limit
    for outer, field in THINKING:
        thought = inner.get(outer)
        if isinstance(thought, dict) and isinstance(budget := thought.get(field), int) and budget >= limit:
            thought[field] = max(LEAST_THINKING, limit // 2)
    return json.dumps(said).encode()
