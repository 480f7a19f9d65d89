"""The scripted model's Anthropic Messages."""

import json
from collections.abc import Sequence
from typing import Any

from tests.agents.model.answers import Piece, Question, Stream, chopped
from tests.agents.model.offered import call
from tests.agents.model.script import Say


def offered(body: dict[str, Any]) -> dict[str, Any]:
    """Say which tools came with the request; a search on the provider's side is not one the agent runs."""
    tools = [tool for tool in body.get("tools") or () if "name" in tool and tool["name"] != "web_search"]
    return {tool["name"]: (tool.get("input_schema") or {}).get("properties", {}) for tool in tools}


def _blocks(say: Say, question: Question) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if say.thinking:
        blocks.append({"type": "thinking", "thinking": say.thinking, "signature": "c2NyaXB0ZWQ="})
    if say.text:
        blocks.append({"type": "text", "text": say.text})
    for index, action in enumerate(say.do):
        tool, given = call(action, question.offered)
        blocks.append({"type": "tool_use", "id": question.name("toolu", index), "name": tool, "input": given})
    return blocks


def _usage(say: Say, output: int) -> dict[str, Any]:
    return {
        "input_tokens": say.usage.input,
        "cache_creation_input_tokens": say.usage.cache_write,
        "cache_read_input_tokens": say.usage.cache_read,
        "output_tokens": output,
    }


def body(say: Say, question: Question) -> dict[str, Any]:
    """Answer at once."""
    return {
        "id": question.name("msg"),
        "type": "message",
        "role": "assistant",
        "model": question.model,
        "content": _blocks(say, question),
        "stop_reason": "tool_use" if say.do else "end_turn",
        "stop_sequence": None,
        "usage": _usage(say, say.usage.output) | {"service_tier": "standard"},
    }


def _deltas(block: dict[str, Any]) -> list[dict[str, Any]]:
    match block["type"]:
        case "text":
            return [{"type": "text_delta", "text": part} for part in chopped(block["text"])]
        case "thinking":
            parts = [{"type": "thinking_delta", "thinking": part} for part in chopped(block["thinking"])]
            return [*parts, {"type": "signature_delta", "signature": block["signature"]}]
        case _:
            return [{"type": "input_json_delta", "partial_json": part} for part in chopped(json.dumps(block["input"]))]


EMPTY: dict[str, dict[str, Any]] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
}


def stream(say: Say, question: Question) -> Sequence[Piece]:
    """Answer in pieces: the input is told at the start, the output at the end."""
    message = body(say, question)
    blocks = message["content"]
    made = Stream(say.usage, sum(len(_deltas(block)) for block in blocks))

    def add(kind: str, **more: Any) -> None:
        made.add({"type": kind, **more}, name=kind, carries=kind == "content_block_delta")

    first = min(1, say.usage.output)
    started = {**message, "content": [], "stop_reason": None, "usage": _usage(say, first)}
    begun = say.usage.model_copy(update={"output": first})
    made.add({"type": "message_start", "message": started}, name="message_start", told=begun)
    for index, block in enumerate(blocks):
        add("content_block_start", index=index, content_block=block | EMPTY[block["type"]])
        for delta in _deltas(block):
            add("content_block_delta", index=index, delta=delta)
        add("content_block_stop", index=index)
    ended = {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}}
    made.add(ended | {"usage": _usage(say, say.usage.output)}, name="message_delta", told=say.usage)
    add("message_stop")
    return made.whole()
