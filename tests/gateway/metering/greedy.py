"""A provider that bills as much as a request allows, whichever API it is asked by; and requests to it."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from midwatch.gateway.metering import ANTHROPIC, GEMINI, OPENAI, Provider
from tests.gateway.metering.lab import FarModel, Got, Lab

MAXIMUM: Final = 128_000
"""What its models make where nothing limits them."""
DOLLAR: Final = 1_000_000


@dataclass(frozen=True)
class Dialect:
    """One API: how it is asked, and what it says of what it has used."""

    provider: Provider
    path: str
    model: str
    ask: Callable[[str], dict[str, Any]]
    """The body of an ordinary request with this text, without a limit."""
    limit: str
    """The field that limits an answer."""
    body: Callable[[str, int, int], dict[str, Any]]
    """A whole answer of so many tokens in and out."""
    ends_stream: Callable[[str, int, int], list[dict[str, Any]]]
    """The events that tell the same."""
    streams_at: str = ""
    """The path of a stream, where it has its own."""


def _messages(model: str, entry: int, made: int) -> dict[str, Any]:
    return {"model": model, "content": [], "usage": {"input_tokens": entry, "output_tokens": made}}


def _messages_stream(model: str, entry: int, made: int) -> list[dict[str, Any]]:
    begun = {"type": "message_start", "message": _messages(model, entry, 1)}
    return [begun, {"type": "message_delta", "usage": {"output_tokens": made}}, {"type": "message_stop"}]


def _responses(model: str, entry: int, made: int) -> dict[str, Any]:
    return {"model": model, "output": [], "usage": {"input_tokens": entry, "output_tokens": made}}


def _chat(model: str, entry: int, made: int) -> dict[str, Any]:
    return {"model": model, "choices": [], "usage": {"prompt_tokens": entry, "completion_tokens": made}}


def _generate(model: str, entry: int, made: int) -> dict[str, Any]:
    usage = {"promptTokenCount": entry, "candidatesTokenCount": 0, "thoughtsTokenCount": made}
    return {"modelVersion": model, "candidates": [], "usageMetadata": usage}


DIALECTS: Final[Mapping[str, Dialect]] = {
    "messages": Dialect(
        ANTHROPIC,
        "/v1/messages",
        "claude-sonnet-4-5",
        lambda text: {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": text}]},
        "max_tokens",
        _messages,
        _messages_stream,
    ),
    "responses": Dialect(
        OPENAI,
        "/v1/responses",
        "gpt-5",
        lambda text: {"model": "gpt-5", "input": text},
        "max_output_tokens",
        _responses,
        lambda *used: [{"type": "response.completed", "response": _responses(*used)}],
    ),
    "chat": Dialect(
        OPENAI,
        "/v1/chat/completions",
        "gpt-5",
        lambda text: {"model": "gpt-5", "messages": [{"role": "user", "content": text}]},
        "max_completion_tokens",
        _chat,
        lambda *used: [_chat(*used)],
    ),
    "generate": Dialect(
        GEMINI,
        "/v1beta/models/gemini-2.5-pro:generateContent",
        "gemini-2.5-pro",
        lambda text: {"contents": [{"role": "user", "parts": [{"text": text}]}]},
        "maxOutputTokens",
        _generate,
        lambda *used: [_generate(*used)],
        "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    ),
}


def limits_in(body: Any) -> Iterator[int]:
    """Find every limit of an answer that a request names."""
    names = {"max_tokens", "max_output_tokens", "max_completion_tokens", "maxOutputTokens"}
    for one in (body, body.get("generationConfig") or {}, body.get("generation_config") or {}):
        yield from (int(value) for name, value in one.items() if name in names and int(value) > 0)


def billed(body: bytes) -> tuple[int, int]:
    """Say what a request costs at most: a token for each byte, and each answer as long as it may be."""
    said = json.loads(body)
    config = said.get("generationConfig") or said.get("generation_config") or {}
    answers = [said.get("n"), said.get("best_of"), config.get("candidateCount"), config.get("candidate_count")]
    return len(body), max(limits_in(said), default=MAXIMUM) * max(int(one) for one in (1, *answers) if one)


@dataclass
class GreedyModel:
    """Bills the most, and may hold its answers back until a number of requests have come."""

    dialect: Dialect
    bills: list[tuple[int, int]] = field(default_factory=list)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.go.set()

    async def talk(self, got: Got, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        entry, made = billed(got.body)
        self.bills.append((entry, made))
        await self.go.wait()
        streams = b'"stream": true' in got.body or "streamGenerate" in got.first
        if streams:
            kind = "text/event-stream"
            events = self.dialect.ends_stream(self.dialect.model, entry, made)
            data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
        else:
            kind, data = "application/json", json.dumps(self.dialect.body(self.dialect.model, entry, made)).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        await writer.drain()

    @property
    def far(self) -> FarModel:
        return FarModel(talk=self.talk)


async def statuses(one: Lab, dialect: Dialect, bodies: list[dict[str, Any]], path: str = "") -> list[int]:
    """Send all at once, and return how each was answered."""
    key = one.key_of(dialect.provider)
    heard = await asyncio.gather(*(one.ask(path or dialect.path, body, **key) for body in bodies))
    return sorted(each.status for each in heard)


def in_its_shape(dialect: Dialect, limit: int) -> dict[str, Any]:
    """Write a limit where this API has it."""
    return {"generationConfig": {dialect.limit: limit}} if dialect.provider is GEMINI else {dialect.limit: limit}


def streaming(dialect: Dialect) -> str:
    """Where this API is asked for a stream."""
    return dialect.streams_at or dialect.path
