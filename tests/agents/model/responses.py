"""The scripted model's OpenAI Responses."""

from collections.abc import Sequence
from typing import Any

from midwatch.terms.agents import Tokens
from tests.agents.model.answers import Piece, Question, Stream, chopped
from tests.agents.model.offered import as_json, call
from tests.agents.model.script import Say


def tools(body: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Say which tools came with the request, and of which kind each is."""
    found: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    waiting = [("", tool) for tool in body.get("tools") or ()]
    while waiting:
        group, tool = waiting.pop(0)
        if tool.get("type") == "namespace":
            waiting += [(tool.get("name", ""), inner) for inner in tool.get("tools", ())]
        elif "name" in tool:
            found[tool["name"]] = (tool.get("parameters") or {}).get("properties", {})
            kinds[tool["name"]] = f"{tool['type']} {group}".strip()
    return found, kinds


def counted(usage: Tokens) -> Tokens:
    """Say what this API can tell: it has no kind for what was written to the cache."""
    return Tokens(input=usage.input + usage.cache_write, output=usage.output, cache_read=usage.cache_read)


def _usage(usage: Tokens) -> dict[str, Any]:
    prompt = usage.input + usage.cache_write + usage.cache_read
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + usage.output,
    }


def _call(say: Say, question: Question, index: int) -> dict[str, Any]:
    tool, given = call(say.do[index], question.offered)
    kind, _, group = question.kinds.get(tool, "function").partition(" ")
    item: dict[str, Any] = {"call_id": question.name("call", index), "name": tool, "status": "completed"}
    if kind == "custom":
        text = given if isinstance(given, str) else as_json(given)
        return item | {"type": "custom_tool_call", "id": question.name("ctc", index), "input": text}
    item |= {"namespace": group} if group else {}
    return item | {"type": "function_call", "id": question.name("fc", index), "arguments": as_json(given)}


def _items(say: Say, question: Question) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if say.thinking:
        summary = [{"type": "summary_text", "text": say.thinking}]
        items.append({"type": "reasoning", "id": question.name("rs"), "summary": summary, "encrypted_content": None})
    if say.text:
        content = [{"type": "output_text", "text": say.text, "annotations": []}]
        message = {"type": "message", "id": question.name("msg"), "role": "assistant", "status": "completed"}
        items.append(message | {"content": content})
    return items + [_call(say, question, index) for index in range(len(say.do))]


def _begun(question: Question) -> dict[str, Any]:
    return {
        "id": question.name("resp"),
        "object": "response",
        "created_at": 1_700_000_000,
        "model": question.model,
        "status": "in_progress",
        "output": [],
        "error": None,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def body(say: Say, question: Question) -> dict[str, Any]:
    """Answer at once."""
    return _begun(question) | {"status": "completed", "output": _items(say, question), "usage": _usage(say.usage)}


def stream(say: Say, question: Question) -> Sequence[Piece]:
    """Answer in pieces: everything is told with the very last one."""
    final = body(say, question)
    carriers = sum(len(list(chopped(say.text))) if item["type"] == "message" else 1 for item in final["output"])
    made = Stream(say.usage, carriers)

    def add(kind: str, *, told: Tokens | None = None, carries: bool = False, **more: Any) -> None:
        event = {"type": kind, "sequence_number": next(made.sequence), **more}
        made.add(event, name=kind, told=told, carries=carries)

    add("response.created", response=_begun(question))
    for index, item in enumerate(final["output"]):
        at = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            add("response.output_item.added", output_index=index, item=item | {"content": [], "status": "in_progress"})
            part = {"type": "output_text", "text": "", "annotations": []}
            add("response.content_part.added", content_index=0, part=part, **at)
            for text in chopped(say.text):
                add("response.output_text.delta", content_index=0, delta=text, carries=True, **at)
            add("response.output_text.done", content_index=0, text=say.text, **at)
        elif item["type"] == "function_call":
            add(
                "response.output_item.added", output_index=index, item=item | {"arguments": "", "status": "in_progress"}
            )
            add("response.function_call_arguments.delta", delta=item["arguments"], carries=True, **at)
            add("response.function_call_arguments.done", arguments=item["arguments"], **at)
        else:
            add("response.output_item.added", output_index=index, item=item, carries=True)
        add("response.output_item.done", output_index=index, item=item)
    add("response.completed", response=final, told=counted(say.usage))
    return made.whole()
