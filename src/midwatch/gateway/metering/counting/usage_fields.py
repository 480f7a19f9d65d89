"""Where each API reports its usage, in its streams and in its whole answers."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from midwatch.gateway.metering.counting.tally import UsageTally, whole
from midwatch.gateway.metering.providers import Api

Read = Callable[[UsageTally, Mapping[str, Any]], None]

_COMPLETE: Final = frozenset({None, "completed", "incomplete", "failed"})
"""Of a response; it has no status where a server leaves it out."""
_CACHED: Final = ("cached_tokens", "cachedContentTokenCount")
_USUAL_TIERS: Final = ("", "auto", "default", "standard")


def messages_event(tally: UsageTally, event: Mapping[str, Any]) -> None:
    """Read an event of Anthropic's Messages."""
    kind = event.get("type")
    if kind == "message_start":
        message = _inner(event, "message")
        tally.named(message.get("model"))
        usage = _inner(message, "usage")
        _anthropic_input(tally, usage)
        tally.begins(usage.get("output_tokens"))
    elif kind == "content_block_delta":
        delta = _inner(event, "delta")
        tally.came(sum(_length(delta.get(name)) for name in ("text", "thinking", "partial_json")))
    elif kind == "message_delta":
        usage = _inner(event, "usage")
        _anthropic_input(tally, usage)
        tally.put_out(_sampled(usage, "output_tokens"))
        tally.ends(whole=_inner(event, "delta").get("stop_reason") is not None)
    elif kind == "message_stop":
        tally.ends()


def messages_whole(tally: UsageTally, answer: Mapping[str, Any]) -> None:
    """Read a whole answer of Anthropic's Messages."""
    tally.named(answer.get("model"))
    usage = _inner(answer, "usage")
    _anthropic_input(tally, usage)
    tally.put_out(_sampled(usage, "output_tokens"))
    tally.ends()


def responses_event(tally: UsageTally, event: Mapping[str, Any]) -> None:
    """Read an event of OpenAI's Responses, which reports its usage only at its end."""
    kind = event.get("type")
    if not isinstance(kind, str):
        return
    if kind.endswith(".delta"):
        tally.came(_length(event.get("delta")))
        tally.dripped.add(str(event.get("item_id")))
    elif kind == "response.output_item.done":
        # Some tool calls come in one piece, without deltas before.
        item = _inner(event, "item")
        if str(item.get("id")) not in tally.dripped:
            tally.came(_length(item.get("input")) + _length(item.get("arguments")))
    elif "response" in event:
        responses_whole(tally, _inner(event, "response"))


def responses_whole(tally: UsageTally, answer: Mapping[str, Any]) -> None:
    """Read a whole answer of OpenAI's Responses."""
    tally.named(answer.get("model"))
    usage = _inner(answer, "usage")
    tally.served(answer.get("service_tier"), usual=_USUAL_TIERS)
    _took_in(tally, usage.get("input_tokens"), _inner(usage, "input_tokens_details"))
    tally.put_out(usage.get("output_tokens"))
    tally.identified(answer.get("id"), [item.get("id") for item in _each(answer.get("output"))])
    tally.ends(whole=answer.get("status") in _COMPLETE)


def chat_event(tally: UsageTally, event: Mapping[str, Any]) -> None:
    """Read a chunk of a chat completion; the last one has the usage, because we ask for it."""
    for choice in _each(event.get("choices")):
        delta = _inner(choice, "delta")
        tally.came(sum(_length(delta.get(name)) for name in ("content", "reasoning_content", "reasoning", "refusal")))
        for call in _each(delta.get("tool_calls")):
            function = _inner(call, "function")
            tally.came(_length(function.get("name")) + _length(function.get("arguments")))
    _chat_usage(tally, event)
    tally.ends(whole=event.get("choices") == [])


def chat_whole(tally: UsageTally, answer: Mapping[str, Any]) -> None:
    _chat_usage(tally, answer)
    tally.ends()


def _chat_usage(tally: UsageTally, answer: Mapping[str, Any]) -> None:
    tally.named(answer.get("model"))
    usage = _inner(answer, "usage")
    tally.served(answer.get("service_tier"), usual=_USUAL_TIERS)
    _took_in(tally, usage.get("prompt_tokens"), _inner(usage, "prompt_tokens_details"))
    tally.put_out(usage.get("completion_tokens"))


def gemini_event(tally: UsageTally, event: Mapping[str, Any]) -> None:
    """Read an event of Gemini's stream; each reports the usage so far."""
    for candidate in _each(event.get("candidates")):
        for part in _each(_inner(candidate, "content").get("parts")):
            arguments = _inner(part, "functionCall").get("args")
            tally.came(_length(part.get("text")) + (len(json.dumps(arguments)) if arguments else 0))
    gemini_whole(tally, event)


def gemini_whole(tally: UsageTally, answer: Mapping[str, Any]) -> None:
    tally.named(answer.get("modelVersion"))
    usage = _inner(answer, "usageMetadata")
    tally.served(usage.get("serviceTier"))
    prompt = whole(usage.get("promptTokenCount"))
    if prompt is not None:
        _took_in(tally, prompt + (whole(usage.get("toolUsePromptTokenCount")) or 0), usage)
    tally.put_out(usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount"))
    candidates = _each(answer.get("candidates"))
    tally.ends(whole=bool(candidates) and all(one.get("finishReason") for one in candidates))


EVENTS: Final[Mapping[Api, Read]] = {
    "messages": messages_event,
    "responses": responses_event,
    "chat": chat_event,
    "generate": gemini_event,
}
WHOLES: Final[Mapping[Api, Read]] = {
    "messages": messages_whole,
    "responses": responses_whole,
    "chat": chat_whole,
    "generate": gemini_whole,
}


def _anthropic_input(tally: UsageTally, usage: Mapping[str, Any]) -> None:
    if usage.get("inference_geo") == "us":
        tally.served("us")
    tally.took_in(
        _sampled(usage, "input_tokens"),
        read=_sampled(usage, "cache_read_input_tokens"),
        written=_sampled(usage, "cache_creation_input_tokens"),
        kept_1h=_inner(usage, "cache_creation").get("ephemeral_1h_input_tokens"),
    )


def _sampled(usage: Mapping[str, Any], name: str) -> object:
    """Add up what every run of the model used: some are listed, and are not in the sum."""
    runs = [whole(one.get(name)) or 0 for one in _each(usage.get("iterations"))]
    total = whole(usage.get(name))
    return total if not runs else max(total or 0, sum(runs))


def _took_in(tally: UsageTally, everything: object, details: Mapping[str, Any]) -> None:
    """Separate the input from the tokens of the cache, which these providers include in it."""
    total = whole(everything)
    if total is None:
        return
    read = min(next((number for name in _CACHED if (number := whole(details.get(name))) is not None), 0), total)
    written = min(whole(details.get("cache_write_tokens")) or 0, total - read)
    tally.took_in(total - read - written, read=read, written=written)


def _inner(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _each(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _length(value: object) -> int:
    return len(value) if isinstance(value, str) else 0
