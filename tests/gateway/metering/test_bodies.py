"""The provider is asked to think, never to fetch, send or run things itself, nor to be paid in another way."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.gateway.metering import ANTHROPIC, GEMINI, OPENAI, Provider
from midwatch.gateway.metering.providers import Shape
from midwatch.gateway.metering.requests.body_rules import objection
from tests.gateway.metering.lab import lab

FAR = "https://elsewhere.example/x?stolen"
IMAGE = {"type": "image", "source": {"type": "url", "url": FAR}}
MCP = {"type": "mcp", "server_label": "x", "server_url": FAR}


def asks(*content: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": list(content)}]}


def hears(*items: object) -> dict[str, object]:
    return {"input": list(items)}


def shows(*parts: object) -> dict[str, object]:
    return {"contents": [{"role": "user", "parts": list(parts)}]}


NOT_CARRIED: list[tuple[Shape, dict[str, Any]]] = [
    ("anthropic", {"mcp_servers": [{"type": "url", "url": FAR, "name": "x"}]}),
    ("anthropic", {"container": "container_1"}),
    ("anthropic", {"container": {"skills": [{"type": "anthropic", "skill_id": "pptx"}]}}),
    ("anthropic", {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
    ("anthropic", {"tools": [{"name": "Bash"}, {"type": "web_fetch_20250910", "name": "web_fetch"}]}),
    ("anthropic", {"tools": [{"type": "code_execution_20250825", "name": "code_execution"}]}),
    ("anthropic", {"tools": [{"type": "mcp_toolset", "mcp_server_name": "x"}]}),
    ("anthropic", {"tools": {"type": "web_search_20250305"}}),
    ("anthropic", {"tools": ["web_search"]}),
    ("anthropic", {"tools": [{"type": ["custom"]}]}),
    ("anthropic", asks(IMAGE)),
    ("anthropic", asks({"type": "document", "source": {"type": "url", "url": FAR}})),
    ("anthropic", asks({"type": "document", "source": {"type": "content", "content": [IMAGE]}})),
    ("anthropic", asks({"type": "tool_result", "tool_use_id": "1", "content": [IMAGE]})),
    ("anthropic", {"system": [IMAGE]}),
    ("openai", {"tools": [{"type": "web_search"}]}),
    ("openai", {"tools": [{"type": "web_search_preview"}]}),
    ("openai", {"tools": [MCP]}),
    ("openai", {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]}),
    ("openai", {"tools": [{"type": "file_search", "vector_store_ids": ["x"]}]}),
    ("openai", {"tools": [{"type": "image_generation"}]}),
    ("openai", {"tools": [{"type": "computer_use_preview"}]}),
    ("openai", {"tools": [{"type": "namespace", "name": "x", "tools": [{"type": "function"}, MCP]}]}),
    ("openai", {"tools": [{"type": "namespace", "name": "x"}]}),
    ("openai", {"tools": [{"type": "namespace", "tools": [{"type": "namespace", "tools": [MCP]}]}]}),
    ("openai", {"tools": [{"name": "no type"}]}),
    ("openai", hears({"type": "tool_search_output", "tools": [MCP]})),
    ("openai", {"web_search_options": {"search_context_size": "low"}}),
    ("openai", {"prompt": {"id": "pmpt_1"}}),
    ("openai", {"model": "gpt-4o-search-preview"}),
    ("openai", hears({"role": "user", "content": [{"type": "input_image", "image_url": FAR}]})),
    ("openai", hears({"role": "user", "content": [{"type": "input_file", "file_url": FAR}]})),
    ("openai", hears({"type": "function_call_output", "output": [{"type": "input_image", "image_url": FAR}]})),
    ("openai", hears({"type": "computer_call_output", "output": {"image_url": FAR}})),
    ("openai", asks({"type": "image_url", "image_url": {"url": FAR}})),
    ("openai", asks({"type": "image_url", "image_url": {"url": " data:x"}})),
    ("openai", asks({"type": "image_url", "image_url": [FAR]})),
    ("gemini", {"tools": [{"googleSearch": {}}]}),
    ("gemini", {"tools": [{"functionDeclarations": [], "url_context": {}}]}),
    ("gemini", {"tools": {"codeExecution": {}}}),
    ("gemini", shows({"fileData": {"fileUri": FAR}})),
    ("gemini", shows({"file_data": {"file_uri": FAR}})),
    ("gemini", {"contents": {"parts": {"fileData": {"file_uri": FAR}}}}),
    ("gemini", {"systemInstruction": {"parts": [{"fileData": {"fileUri": FAR}}]}}),
    ("gemini", shows({"functionResponse": {"name": "x", "parts": [{"fileData": {"fileUri": FAR}}]}})),
    ("gemini", {"generateContentRequest": {"tools": [{"googleSearch": {}}]}}),
    ("gemini", {"generate_content_request": shows({"fileData": {"fileUri": FAR}})}),
    *((shape, {"service_tier": tier}) for shape in ("anthropic", "openai") for tier in ("priority", "flex", "fast", 1)),
    ("gemini", {"serviceTier": "priority"}),
    ("gemini", {"service_tier": "SERVICE_TIER_PRIORITY"}),
    ("anthropic", {"inference_geo": "us"}),
    (
        "anthropic",
        {"context_management": {"edits": [{"type": "clear_thinking_20251015"}, {"type": "compact_20260112"}]}},
    ),
    ("openai", {"context_management": [{"type": "compaction", "compact_threshold": 1000}]}),
    ("openai", {"prediction": {"type": "content", "content": "x"}}),
    ("openai", {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}}),
    ("openai", {"models": ["o1-pro"]}),
    ("openai", {"fallbacks": ["o1-pro"]}),
    ("openai", {"plugins": [{"id": "web"}]}),
    ("openai", {"preset": "dear"}),
    ("openai", asks({"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}})),
    ("openai", hears({"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AA"}}]})),
    ("openai", asks({"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AA"}})),
    ("gemini", shows({"inlineData": {"mimeType": "audio/mp3", "data": "AA"}})),
    ("gemini", shows({"inline_data": {"mime_type": "Video/MP4", "data": "AA"}})),
    ("gemini", {"generationConfig": {"responseModalities": ["TEXT", "IMAGE"]}}),
    ("gemini", {"generation_config": {"response_modalities": ["AUDIO"], "speech_config": {}}}),
    ("gemini", {"generationConfig": {"imageConfig": {"imageSize": "4K"}}}),
    ("openai", {"background": True}),
    ("openai", {"background": 0}),
    ("openai", {"background": "true"}),
    ("anthropic", {"speed": "fast"}),
]
CARRIED: list[tuple[Shape, dict[str, Any]]] = [
    ("anthropic", {"tools": [{"name": "web_search", "description": FAR}, {"type": "custom", "name": "web_fetch"}]}),
    (
        "anthropic",
        {"tools": [{"type": "bash_20250124"}, {"type": "text_editor_20250728"}, {"type": "memory_20250818"}]},
    ),
    ("anthropic", {"tools": [{"type": "computer_20250124", "name": "computer"}], "mcp_servers": [], "container": None}),
    ("anthropic", {"tools": None, "speed": "standard", "service_tier": "standard_only"}),
    ("anthropic", asks({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}})),
    ("anthropic", asks({"type": "tool_use", "id": "1", "name": "WebFetch", "input": {**IMAGE, "content": [IMAGE]}})),
    ("anthropic", asks({"type": "text", "text": json.dumps(IMAGE)})),
    ("anthropic", {"system": FAR, "messages": [{"role": "user", "content": FAR}]}),
    ("openai", {"tools": [{"type": kind} for kind in ("function", "custom", "local_shell", "shell", "apply_patch")]}),
    ("openai", {"tools": [{"type": "function", "name": "web_search"}, {"type": "custom", "name": "mcp"}]}),
    ("openai", {"service_tier": "auto", "background": False, "web_search_options": None, "prompt": None}),
    ("openai", {"input": FAR, "instructions": FAR, "modalities": ["text"], "prediction": None}),
    ("anthropic", {"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}}),
    ("anthropic", {"inference_geo": "global", "context_management": None}),
    ("gemini", {"generationConfig": {"responseModalities": ["TEXT"], "maxOutputTokens": 5}}),
    ("openai", hears({"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,AA"}]})),
    ("openai", hears({"type": "function_call", "name": "x", "arguments": json.dumps({"image_url": FAR})})),
    ("openai", hears({"type": "function_call_output", "output": FAR})),
    ("openai", asks({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}})),
    ("gemini", {"tools": [{"functionDeclarations": []}, {"function_declarations": []}], "serviceTier": "standard"}),
    ("gemini", shows({"text": FAR}, {"inlineData": {"mimeType": "image/png", "data": "AA"}})),
    ("gemini", shows({"functionCall": {"name": "x", "args": {"fileData": {"fileUri": FAR}}}})),
    ("gemini", shows({"functionResponse": {"name": "x", "response": {"fileData": {"fileUri": FAR}}}})),
]


@pytest.mark.parametrize(("shape", "said"), NOT_CARRIED, ids=lambda value: str(value)[:70])
def test_what_the_provider_would_do_itself_or_at_another_price_is_not_carried(
    shape: Shape, said: dict[str, Any]
) -> None:
    why = objection(shape, said)
    assert why.endswith(".")
    assert why.count(". ") == 0, "one sentence"


@pytest.mark.parametrize(("shape", "said"), CARRIED, ids=lambda value: str(value)[:70])
def test_tools_of_the_job_texts_and_what_comes_along_are_carried(shape: Shape, said: dict[str, Any]) -> None:
    assert objection(shape, said) == ""


words = st.text(max_size=8) | st.sampled_from(["type", "url", "source", "image_url", "fileData", "tools", "content"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


@given(anything, words, words)
def test_what_a_model_gave_a_tool_and_what_tools_are_called_never_matters(given: Any, name: str, text: str) -> None:
    assert not objection("anthropic", asks({"type": "tool_use", "name": name, "input": given}, {"text": text}))
    assert not objection("openai", hears({"type": "tool_search_call", "arguments": given, "name": name}))
    assert not objection("gemini", shows({"functionCall": {"name": name, "args": given}}, {"text": text}))
    described = {"name": name, "description": text, "input_schema": given}
    assert not objection("anthropic", {"tools": [described]})
    assert not objection("openai", {"tools": [{"type": "function", "function": described}]})
    assert not objection("gemini", {"tools": [{"functionDeclarations": [described]}]})


@given(anything, st.sampled_from(["anthropic", "openai", "gemini"]))
def test_no_request_breaks_the_rule_whatever_it_holds(said: Any, shape: Shape) -> None:
    fields = ("tools", "messages", "input", "contents", "system", "service_tier", "background", "model", "speed")
    assert isinstance(objection(shape, dict.fromkeys(fields, said)), str)


@pytest.mark.parametrize("depth", [0, 1, 5_000])
def test_content_is_looked_into_however_deep_it_lies(depth: int) -> None:
    block: dict[str, Any] = IMAGE
    for _ in range(depth):
        block = {"type": "tool_result", "content": [block]}
    assert objection("anthropic", asks(block))


@pytest.mark.parametrize(
    ("provider", "path", "body"),
    [
        (ANTHROPIC, "/v1/messages", {"mcp_servers": [{"type": "url", "url": FAR}]}),
        (ANTHROPIC, "/v1/messages/count_tokens", asks(IMAGE)),
        (OPENAI, "/v1/responses", {"tools": [MCP]}),
        (OPENAI, "/v1/chat/completions", {"web_search_options": {"x": 1}, "stream": True}),
        (GEMINI, "/v1beta/models/gemini-2.5-pro:generateContent", {"tools": [{"urlContext": {}}]}),
        (GEMINI, "/v1beta/models/gemini-2.5-pro:countTokens", {"generateContentRequest": {"tools": [{"x": {}}]}}),
    ],
    ids=lambda value: str(getattr(value, "name", value))[:40],
)
async def test_such_a_request_never_leaves_and_costs_nothing(
    provider: Provider, path: str, body: dict[str, object]
) -> None:
    async with lab(provider=provider) as one:
        named = {} if provider is GEMINI else {"model": "m"}
        heard = await one.ask(path, {**named, "max_tokens": 1, **body})
        assert heard.status == 400
        assert heard.json()["error"]["message"].endswith(("here.", "instead."))
        assert one.far.got == []
        assert one.calls == []


async def test_a_field_that_is_named_twice_does_not_hide_the_first() -> None:
    async with lab() as one:
        heard = await one.ask(body=b'{"model": "m", "mcp_servers": [{"type": "url"}], "mcp_servers": []}')
        assert heard.status == 400
        assert heard.json()["error"]["message"] == "The body of the request names a field twice."
        assert one.far.got == []
