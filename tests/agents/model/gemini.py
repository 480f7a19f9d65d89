"""The scripted model's Gemini generateContent."""

from collections.abc import Sequence
from typing import Any

from midwatch.terms.agents import Tokens
from tests.agents.model.answers import Piece, Question, Stream, chopped
from tests.agents.model.offered import call
from tests.agents.model.responses import counted
from tests.agents.model.script import Say


def offered(body: dict[str, Any]) -> dict[str, Any]:
    """Say which tools came with the request."""
    found = [one for tool in body.get("tools") or () for one in tool.get("functionDeclarations", ())]
    return {
        one["name"]: (one.get("parametersJsonSchema") or one.get("parameters") or {}).get("properties", {})
        for one in found
    }


def _usage(usage: Tokens) -> dict[str, Any]:
    prompt = usage.input + usage.cache_write + usage.cache_read
    return {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": usage.output,
        "totalTokenCount": prompt + usage.output,
    }


def _answer(parts: list[dict[str, Any]], usage: Tokens, question: Question, finish: str | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    candidate |= {"finishReason": finish} if finish else {}
    head = {"modelVersion": question.model, "responseId": question.name("r")}
    return head | {"candidates": [candidate], "usageMetadata": _usage(usage)}


def _calls(say: Say, question: Question) -> list[dict[str, Any]]:
    calls = []
    for index, action in enumerate(say.do):
        tool, given = call(action, question.offered)
        arguments = given if isinstance(given, dict) else {"input": given}
        calls.append({"functionCall": {"name": tool, "args": arguments, "id": question.name("call", index)}})
    return calls


def body(say: Say, question: Question) -> dict[str, Any]:
    """Answer at once."""
    text = [{"text": say.text}] if say.text else []
    parts = [*text, *_calls(say, question)] or [{"text": ""}]
    return _answer(parts, say.usage, question, "STOP")


def stream(say: Say, question: Question) -> Sequence[Piece]:
    """Answer in pieces; each tells everything that was used until then."""
    parts: list[dict[str, Any]] = [{"text": text} for text in chopped(say.text)] + _calls(say, question)
    parts = parts or [{"text": ""}]
    made = Stream(say.usage, len(parts))
    for index, part in enumerate(parts, start=1):
        now = say.usage.model_copy(update={"output": say.usage.output * index // len(parts)})
        finish = "STOP" if index == len(parts) else None
        made.add(_answer([part], now, question, finish), told=counted(now), carries=True)
    return made.whole()
