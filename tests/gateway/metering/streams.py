"""Answers as providers give them, each written beside what it has told and said up to each of its parts."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from midwatch.gateway.metering.calls import TokenUsage
from midwatch.gateway.metering.providers import Api

TEXT = "Ich prüfe den Plan — 你好 🌙, then I run the tests and say what I saw. " * 3
TOOL = json.dumps({"command": "pytest -q", "why": "to see"})


@dataclass
class Said:
    """What a counter must know after a part: the provider's own words, and characters it has not yet accounted for."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    kept_1h: int = 0
    characters: int = 0
    floor: int = 0

    def usage(self) -> TokenUsage:
        guess = (self.characters + 3) // 4
        return TokenUsage(
            self.input,
            max(self.floor, self.output + guess),
            self.cache_read,
            self.cache_write,
            self.kept_1h,
            estimated=self.characters > 0,
        )


@dataclass
class Recorded:
    """A recorded answer: its bytes, and from which byte on what is known."""

    name: str
    api: Api
    content_type: str
    parts: list[tuple[bytes, TokenUsage]]

    @property
    def whole(self) -> bytes:
        return b"".join(part for part, _ in self.parts)

    @property
    def usage(self) -> TokenUsage:
        return self.parts[-1][1]

    def known_at(self, byte: int) -> TokenUsage:
        """What the server has said when exactly so many bytes have left it."""
        known, passed = TokenUsage(), 0
        for part, after in self.parts:
            passed += len(part)
            if passed > byte:
                break
            known = after
        return known


def pieces(text: str, size: int = 9) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


class Script:
    """Writes a stream of events, part by part."""

    def __init__(self) -> None:
        self.said = Said()
        self.parts: list[tuple[bytes, TokenUsage]] = []

    def event(self, data: object, name: str = "", **told: int) -> None:
        """The event is known when the last byte of its data is there; the empty line after it adds nothing."""
        before = self.said.usage()
        for field, value in told.items():
            setattr(self.said, field, getattr(self.said, field) + value if field == "characters" else value)
        if "output" in told:
            self.said.characters = self.said.floor = 0
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        raw = (f"event: {name}\n" if name else "").encode() + f"data: {text}".encode()
        self.parts += [(raw[:-1], before), (raw[-1:] + b"", self.said.usage()), (b"\n\n", self.said.usage())]


def messages_stream() -> Recorded:
    script = Script()
    usage = {
        "input_tokens": 100,
        "cache_read_input_tokens": 2000,
        "cache_creation_input_tokens": 300,
        "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200},
        "output_tokens": 1,
    }
    start = {"type": "message_start", "message": {"model": "claude-sonnet-4-5", "content": [], "usage": usage}}
    script.event(start, "message_start", input=100, cache_read=2000, cache_write=300, kept_1h=200, floor=1)
    script.event({"type": "ping"}, "ping")
    for kind, field, text in (
        ("thinking_delta", "thinking", TEXT),
        ("text_delta", "text", TEXT),
        ("input_json_delta", "partial_json", TOOL),
    ):
        for piece in pieces(text):
            event = {"type": "content_block_delta", "index": 0, "delta": {"type": kind, field: piece}}
            script.event(event, "content_block_delta", characters=len(piece))
    script.event({"type": "content_block_stop", "index": 0}, "content_block_stop")
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 400}}
    script.event(end, "message_delta", output=400)
    script.event({"type": "message_stop"}, "message_stop")
    return Recorded("messages stream", "messages", "text/event-stream; charset=utf-8", script.parts)


def responses_stream() -> Recorded:
    script = Script()
    script.event({"type": "response.created", "response": {"model": "gpt-5", "usage": None}}, "response.created")
    for piece in pieces(TEXT):
        event = {"type": "response.output_text.delta", "item_id": "m", "delta": piece}
        script.event(event, "response.output_text.delta", characters=len(piece))
    script.event({"type": "response.output_text.done", "item_id": "m", "text": TEXT}, "response.output_text.done")
    item = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": TEXT}]}
    script.event({"type": "response.output_item.done", "item": item}, "response.output_item.done")
    call = {"type": "custom_tool_call", "id": "c", "input": TOOL}
    script.event({"type": "response.output_item.done", "item": call}, "x", characters=len(TOOL))
    usage = {"input_tokens": 1500, "input_tokens_details": {"cached_tokens": 1000}, "output_tokens": 300}
    done = {"type": "response.completed", "response": {"model": "gpt-5", "output": [item, call], "usage": usage}}
    script.event(done, "response.completed", input=500, cache_read=1000, output=300)
    return Recorded("responses stream", "responses", "text/event-stream", script.parts)


def chat_stream() -> Recorded:
    script = Script()
    script.event({"model": "gpt-4.1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
    for piece in pieces(TEXT):
        script.event({"choices": [{"delta": {"content": piece}}], "usage": None}, characters=len(piece))
    call = {"index": 0, "function": {"name": "shell", "arguments": TOOL}}
    script.event({"choices": [{"delta": {"tool_calls": [call]}}]}, characters=len(TOOL) + 5)
    script.event({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    usage = {"prompt_tokens": 90, "completion_tokens": 200, "prompt_tokens_details": {"cached_tokens": 30}}
    script.event({"choices": [], "usage": usage}, input=60, cache_read=30, output=200)
    script.event("[DONE]")
    return Recorded("chat stream", "chat", "text/event-stream", script.parts)


def gemini_chunks() -> Iterator[tuple[dict[str, object], dict[str, int]]]:
    output = 0
    for piece in pieces(TEXT, 40):
        output += len(piece) // 4 + 5
        usage = {"promptTokenCount": 70, "cachedContentTokenCount": 20, "candidatesTokenCount": output}
        chunk: dict[str, object] = {
            "candidates": [{"content": {"role": "model", "parts": [{"text": piece}]}}],
            "usageMetadata": {**usage, "thoughtsTokenCount": 3},
            "modelVersion": "gemini-2.5-pro",
        }
        yield chunk, {"characters": len(piece), "input": 50, "cache_read": 20, "output": output + 3}


def gemini_stream() -> Recorded:
    script = Script()
    for chunk, told in gemini_chunks():
        script.event(chunk, "", **told)
    return Recorded("gemini stream", "generate", "text/event-stream", script.parts)


class Document:
    """Writes JSON around a text, letter by letter: while it is not whole, its letters stand for tokens."""

    def __init__(self) -> None:
        self.said = Said()
        self.parts: list[tuple[bytes, TokenUsage]] = []

    def plain(self, raw: str) -> None:
        self.parts.append((raw.encode(), self.said.usage()))

    def text(self, text: str) -> None:
        for letter in text:
            raw = json.dumps(letter, ensure_ascii=False)[1:-1].encode()
            # Known from the byte that begins it (after the backslash, where there is one) up to the next.
            lead, rest = (raw[:2], raw[2:]) if raw[:1] == b"\\" else (raw[:1], raw[1:])
            before = self.said.usage()
            self.said.characters += 1
            if len(lead) > 1:
                self.parts.append((lead[:1], before))
            self.parts += [(lead[-1:], self.said.usage()), *([(rest, self.said.usage())] if rest else [])]

    def ends(self, raw: str, **told: int) -> None:
        self.plain(raw[:-1])
        for field, value in told.items():
            setattr(self.said, field, value)
        self.said.characters = 0
        self.plain(raw[-1:])


def messages_whole() -> Recorded:
    page = Document()
    page.plain('{"model":"claude-sonnet-4-5","content":[{"type":"text","text":"')
    page.text(TEXT)
    page.plain('"},{"type":"tool_use","name":"Bash","input":{"command":"')
    page.text("ls\n\u0001")
    page.plain('"}}],"usage":{"input_tokens":10,"cache_read_input_tokens":4,')
    page.ends(
        '"cache_creation_input_tokens":6,"output_tokens":200}}', input=10, cache_read=4, cache_write=6, output=200
    )
    return Recorded("messages whole", "messages", "application/json", page.parts)


def responses_whole() -> Recorded:
    page = Document()
    page.plain('{"model":"gpt-5","instructions":"not counted","output":[{"type":"message","content":[{"text":"')
    page.text(TEXT)
    page.plain('"}]}],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},')
    page.ends('"output_tokens":200}}', input=6, cache_read=4, output=200)
    return Recorded("responses whole", "responses", "application/json", page.parts)


def chat_whole() -> Recorded:
    page = Document()
    page.plain('{"model":"gpt-4.1","choices":[{"message":{"role":"assistant","content":"')
    page.text(TEXT)
    page.plain('","tool_calls":[{"function":{"name":"sh","arguments":"')
    page.text(TOOL)
    page.ends('"}}]}}],"usage":{"prompt_tokens":10,"completion_tokens":200}}', input=10, output=200)
    return Recorded("chat whole", "chat", "application/json", page.parts)


def gemini_whole(opening: str = "", closing: str = "") -> Recorded:
    page = Document()
    page.plain(opening + '{"candidates":[{"content":{"role":"model","parts":[{"text":"')
    page.text(TEXT)
    page.plain('"},{"functionCall":{"name":"f","args":{"deep":{"list":["')
    page.text("written")
    page.plain('"]}}}}]}}],"modelVersion":"gemini-2.5-pro","usageMetadata":{"promptTokenCount":9,')
    page.ends('"candidatesTokenCount":150}}', input=9, output=150)
    if closing:
        page.plain(closing)
    return Recorded("gemini array" if opening else "gemini whole", "generate", "application/json", page.parts)


MAKERS: list[Callable[[], Recorded]] = [
    messages_stream,
    responses_stream,
    chat_stream,
    gemini_stream,
    messages_whole,
    responses_whole,
    chat_whole,
    gemini_whole,
    lambda: gemini_whole("[\n", "\n]"),
]
RECORDED = [make() for make in MAKERS]
