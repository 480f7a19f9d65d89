"""The scripted model's OpenAI Chat Completions."""

from collections.abc import Sequence
from typing import Any

from midwatch.terms.agents import Tokens
from tests.agents.model.answers import Piece, Question, Stream, chopped
from tests.agents.model.offered import as_json, call
from tests.agents.model.responses import counted
from tests.agents.model.script import Say


def offered(body: dict[str, Any]) -> dict[str, Any]:
    """Say which tools came with the request."""
    functions = [tool["function"] for tool in body.get("tools") or () if tool.get("type") == "function"]
    return {one["name"]: (one.get("parameters") or {}).get("properties", {}) for one in functions}


def _calls(say: Say, question: Question) -> list[dict[str, Any]]:
    calls = []
    for index, action in enumerate(say.do):
        tool, given = call(action, question.offered)
        function = {"name": tool, "arguments": as_json(given)}
        calls.append({"id": question.name("call", index), "type": "function", "function": function})
    return calls


def _usage(usage: Tokens) -> dict[str, Any]:
    prompt = usage.input + usage.cache_write + usage.cache_read
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
    }


def body(say: Say, question: Question) -> dict[str, Any]:
    """Answer at once."""
    calls = _calls(say, question)
    message: dict[str, Any] = {"role": "assistant", "content": say.text or (None if calls else "")}
    message |= {"tool_calls": calls} if calls else {}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    head = {"id": question.name("chatcmpl"), "object": "chat.completion", "created": 1_700_000_000}
    return head | {"model": question.model, "choices": [choice], "usage": _usage(say.usage)}


def stream(say: Say, question: Question) -> Sequence[Piece]:
    """Answer in pieces; what was used is told at the end, and only to who asked for it."""
    calls = _calls(say, question)
    texts = list(chopped(say.text))
    made = Stream(say.usage, len(texts) + len(calls))
    head = {"id": question.name("chatcmpl"), "object": "chat.completion.chunk", "created": 1_700_000_000}
    head |= {"model": question.model}

    def add(delta: dict[str, Any], finish: str | None = None, *, carries: bool = False) -> None:
        made.add(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}, carries=carries)

    add({"role": "assistant", "content": ""})
    for text in texts:
        add({"content": text}, carries=True)
    for index, one in enumerate(calls):
        add({"tool_calls": [{"index": index, **one}]}, carries=True)
    add({}, "tool_calls" if calls else "stop")
    if (question.body.get("stream_options") or {}).get("include_usage"):
        made.add(head | {"choices": [], "usage": _usage(say.usage)}, told=counted(say.usage))
    made.add("[DONE]")
    return made.whole()
