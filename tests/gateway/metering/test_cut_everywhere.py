"""The proxy's count is the scripted model's own count, at whichever byte a stream is cut, packed or not (A3).

The script is made so that four characters are a token indeed: then what we guess is what the model has made.
"""

import random
import zlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

import pytest

from midwatch.gateway.metering import ANTHROPIC, GEMINI, OPENAI, Provider, TokenUsage
from midwatch.rules.budget.spending import estimated_tokens
from midwatch.terms.agents import Tokens
from tests.agents.model import Model, Say, scripted_model
from tests.agents.model.answers import Piece, Question
from tests.agents.model.scripted import DIALECTS
from tests.gateway.metering.lab import SECRET, Lab, lab

TEXT = "".join(f"The {number}th line has 24. ".ljust(24) for number in range(100, 108))
USED = Tokens(input=1000, output=6 * 8, cache_read=500, cache_write=70)
SAMPLE = 10


@dataclass(frozen=True)
class Api:
    """One API: who offers it, where, and what is asked there."""

    name: str
    provider: Provider
    path: str
    body: dict[str, object]

    def pieces(self, asked: dict[str, object]) -> list[Piece]:
        """Give what the model will send, event by event; the request may have been changed on its way."""
        model = str(asked.get("model") or "gemini-2.5-pro")
        question = Question(self.name, dict(asked), model, True, {}, {}, 1)
        return list(DIALECTS[self.name].stream(Say(TEXT, usage=USED), question))


_CHAT: dict[str, object] = {
    "model": "gpt-4.1",
    "stream": True,
    "stream_options": {"include_usage": True},
    "messages": [],
}
_RESPONSES: dict[str, object] = {"model": "gpt-5", "stream": True, "input": "Go."}
_GENERATE: dict[str, object] = {"contents": [], "generationConfig": {"maxOutputTokens": 90}}
APIS = [
    Api("anthropic", ANTHROPIC, "/v1/messages", {"model": "claude-sonnet-4-5", "stream": True, "max_tokens": 90}),
    Api("responses", OPENAI, "/v1/responses", _RESPONSES | {"max_output_tokens": 90}),
    Api("chat", OPENAI, "/v1/chat/completions", _CHAT | {"max_tokens": 90}),
    Api("gemini", GEMINI, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", _GENERATE),
]
Encoding = Literal["identity", "gzip"]
each = pytest.mark.parametrize("api", APIS, ids=lambda one: one.name)
packed_or_not = pytest.mark.parametrize("encoding", ["identity", "gzip"])


def packed(pieces: Iterable[Piece], encoding: Encoding) -> bytes:
    """Write down what goes over the wire."""
    parts = [piece.data for piece in pieces]
    if encoding == "identity":
        return b"".join(parts)
    coat = zlib.compressobj(wbits=31)
    flushed = [coat.compress(part) + coat.flush(zlib.Z_SYNC_FLUSH) for part in parts[:-1]]
    return b"".join([*flushed, coat.compress(parts[-1]) + coat.flush(zlib.Z_FINISH)])


def expected(pieces: list[Piece], clear: int, guess: int) -> TokenUsage:
    """Tell what the model has told and made in so many clear bytes; an event ends with its data, not its empty line."""
    told, made, at = Tokens(), 0, 0
    for piece in pieces:
        at += len(piece.data)
        if at - len(b"\n\n") > clear:
            break
        told, made = piece.told, piece.made.output
    reported_input = bool(told.input)
    return TokenUsage(
        input=told.input if reported_input else guess,
        output=max(told.output, made),
        cache_read=told.cache_read,
        cache_write=told.cache_write,
        estimated=not reported_input or made > told.output,
    )


@asynccontextmanager
async def door(api: Api) -> AsyncIterator[tuple[Model, Lab]]:
    async with scripted_model() as model, lab(provider=api.provider, base=model.address("cut")) as one:
        yield model, one


async def cut_there(model: Model, one: Lab, api: Api, encoding: Encoding, cut: int) -> None:
    """Have one stream cut, and hold our count against the model's."""
    model.play("cut", Say(TEXT, usage=USED, cut=cut, encoding=encoding), every=True)
    before = len(one.calls)
    heard = await one.ask(api.path, api.body)
    call = await one.call(before + 1)
    (asked,) = model.requests("cut")
    pieces = api.pieces(asked.body)
    raw = packed(pieces, encoding)
    sent = raw[:cut]
    clear = len(sent) if encoding == "identity" else len(zlib.decompressobj(31).decompress(sent))
    guess = estimated_tokens(int(asked.headers["content-length"]))
    assert call.usage == expected(pieces, clear, guess), cut
    assert call.cut, cut
    assert asked.sent == len(sent)
    assert not heard.whole
    assert sent.startswith(heard.body)
    assert len(sent) - len(heard.body) < len(SECRET), "held back: it might have been the secret"


async def length(model: Model, one: Lab, api: Api, encoding: Encoding) -> int:
    """Hear the whole stream, which must be counted whole, and tell how long it is."""
    model.play("cut", Say(TEXT, usage=USED, encoding=encoding), every=True)
    heard = await one.ask(api.path, api.body)
    call = await one.call(1)
    assert heard.whole
    assert call.usage.tokens == model.told("cut") == DIALECTS[api.name].counted(USED)
    assert (call.usage.estimated, call.cut) == (False, False)
    assert heard.body == packed(api.pieces(model.requests("cut")[0].body), encoding)
    return len(heard.body)


@each
@packed_or_not
async def test_a_stream_cut_anywhere_counts_what_the_model_has_told_and_made(api: Api, encoding: Encoding) -> None:
    chosen = random.Random(f"{api.name} {encoding}")  # noqa: S311 - the same sample every time
    async with door(api) as (model, one):
        size = await length(model, one, api, encoding)
        for cut in {0, 1, size - 2, size - 1, size, *chosen.sample(range(size), SAMPLE)}:
            await cut_there(model, one, api, encoding, cut)


@pytest.mark.sweep
@each
@packed_or_not
async def test_a_stream_cut_at_every_byte_counts_what_the_model_has_told_and_made(
    api: Api, encoding: Encoding, capsys: pytest.CaptureFixture[str]
) -> None:
    async with door(api) as (model, one):
        size = await length(model, one, api, encoding)
        for cut in range(size + 1):
            await cut_there(model, one, api, encoding, cut)
    with capsys.disabled():
        print(f"\n{api.name}, {encoding}: cut at each of {size} bytes and after the last; every count was the model's")
