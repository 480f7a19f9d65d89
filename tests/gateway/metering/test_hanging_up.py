"""Whoever leaves an answer pays for what it may have been: thoughts are hidden, and most usage is told at the end."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from time import monotonic
from typing import Any

import pytest

from midwatch.gateway.metering import MeteredCall
from midwatch.rules.budget.spending import Amount, Ceilings, Whose
from tests.gateway.metering.greedy import DIALECTS, Dialect, in_its_shape, streaming
from tests.gateway.metering.lab import FarModel, Got, Lab, lab

THOUGHTS = 100
"""Tokens that this provider makes in a second, all of them hidden."""
SPEED = {"messages": 400, "responses": 500, "chat": 500, "generate": 1_000}
"""Tokens that are booked for a second."""
LATE = 2.0
"""Seconds until a provider notices."""
FIRST: dict[str, dict[str, Any]] = {
    "messages": {"type": "message_start", "message": {"usage": {"input_tokens": 50, "output_tokens": 1}}},
    "responses": {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "usage": None}},
    "chat": {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
    "generate": {"usageMetadata": {"promptTokenCount": 50}},
}
each = pytest.mark.parametrize("name", DIALECTS)


@dataclass
class HiddenThoughts:
    """Says one event, then thinks until the other side is gone, and bills each request by the second."""

    first: dict[str, Any] | None
    bills: list[int] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def talk(self, got: Got, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        began = monotonic()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        if self.first is not None:
            writer.write(b"data: " + json.dumps(self.first).encode() + b"\n\n")
        await writer.drain()
        await reader.read()
        self.bills.append(len(got.body) + ceil((monotonic() - began) * THOUGHTS))
        self.gone.set()
        raise ConnectionError


def body_of(dialect: Dialect, limit: int, *, streams: bool = True) -> dict[str, Any]:
    body = dialect.ask("Think.") | in_its_shape(dialect, limit)
    return body | ({"stream": True} if streams and not dialect.streams_at else {})


async def leave(one: Lab, dialect: Dialect, body: dict[str, Any], upto: bytes) -> MeteredCall:
    """Hang up as soon as this much has come."""
    number = len(one.calls) + 1
    reader, writer = await one.dial()
    writer.write(one.post(streaming(dialect), body, **one.key_of(dialect.provider)))
    await reader.readuntil(upto)
    writer.close()
    return await one.call(number)


@each
@pytest.mark.parametrize("limit", [100, 50_000])
@pytest.mark.parametrize("said", [True, False], ids=["said something", "said nothing"])
async def test_hanging_up_in_the_middle_of_thoughts_costs_what_may_have_been_thought(
    name: str, limit: int, said: bool
) -> None:
    dialect, thoughts = DIALECTS[name], HiddenThoughts(FIRST[name] if said else None)
    async with lab(FarModel(talk=thoughts.talk), provider=dialect.provider) as one:
        began = monotonic()
        call = await leave(one, dialect, body_of(dialect, limit), b"data: " if said else b"\r\n\r\n")
        await thoughts.gone.wait()
        most = ceil((monotonic() - began + LATE) * SPEED[name])
        assert call.why == "The job hung up before its answer was complete."
        assert min(limit, LATE * SPEED[name]) <= call.usage.output <= min(limit, most)
        assert call.usage.estimated
        told = said and name in {"messages", "generate"}
        assert call.usage.input + call.usage.cache_write >= (50 if told else len(one.far.got[0].body))
        assert call.usage.total >= min(thoughts.bills[0], 50 + limit)
        assert one.ledger.budget(Whose.JOB, "job").spent == Amount(call.usd_micros, call.usage.total, 1)


@each
async def test_closing_the_proxy_in_the_middle_of_thoughts_costs_the_same(name: str) -> None:
    """An agent that ends takes its connections with it."""
    dialect, thoughts = DIALECTS[name], HiddenThoughts(FIRST[name])
    async with lab(FarModel(talk=thoughts.talk), provider=dialect.provider) as one:
        reader, writer = await one.dial()
        writer.write(one.post(streaming(dialect), body_of(dialect, 50_000), **one.key_of(dialect.provider)))
        await reader.readuntil(b"data: ")
        await one.proxy.close()
        assert one.calls[0].why == "The network of this job was closed."
        assert one.calls[0].usage.output >= LATE * SPEED[name]
        writer.transport.abort()


@each
async def test_an_answer_in_one_piece_costs_all_it_may_have_been(name: str) -> None:
    """A provider finishes it although nobody waits for it."""
    dialect, thoughts = DIALECTS[name], HiddenThoughts(None)
    async with lab(FarModel(talk=thoughts.talk), provider=dialect.provider) as one:
        _, writer = await one.dial()
        body = body_of(dialect, 50_000, streams=False)
        writer.write(one.post(dialect.path, body, **one.key_of(dialect.provider)))
        await one.far.has_got()
        writer.close()
        assert (await one.call()).usage.output == 50_000


@each
async def test_hanging_up_after_the_last_word_costs_what_was_reported(name: str) -> None:
    """Programs close a stream when they have read its last event, not when it ends."""
    dialect = DIALECTS[name]
    events = dialect.ends_stream(dialect.model, 50, 7)
    if name == "generate":
        events[0]["candidates"] = [{"finishReason": "STOP"}]

    async def talk(_got: Got, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + data + b": the end\n\n")
        await reader.read()

    async with lab(FarModel(talk=talk), provider=dialect.provider) as one:
        call = await leave(one, dialect, body_of(dialect, 50_000), b": the end")
        assert (call.usage.input, call.usage.output, call.usage.estimated) == (50, 7, False)


async def test_what_was_reported_of_thoughts_counts_where_it_is_more() -> None:
    dialect = DIALECTS["generate"]
    thoughts = HiddenThoughts({"usageMetadata": {"promptTokenCount": 50, "thoughtsTokenCount": 40_000}})
    async with lab(FarModel(talk=thoughts.talk), provider=dialect.provider) as one:
        call = await leave(one, dialect, body_of(dialect, 50_000), b"data: ")
        assert (call.usage.input, call.usage.output) == (50, 40_000)


@each
@pytest.mark.parametrize("hide", [lambda body: body, lambda body: body | {"stream": "yes"}], ids=["as it is", "odd"])
async def test_a_storm_of_tries_ends_at_the_ceiling(
    name: str, hide: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    dialect, thoughts = DIALECTS[name], HiddenThoughts(FIRST[name])
    ceilings = {Whose.JOB: Ceilings(usd_micros=300_000)}
    async with lab(FarModel(talk=thoughts.talk), provider=dialect.provider, ceilings=ceilings) as one:
        body = hide(body_of(dialect, 50_000))
        key = one.key_of(dialect.provider)
        while one.ledger.budget(Whose.JOB, "job").spent.usd_micros < 300_000:
            await leave(one, dialect, body, b"data: ")
            assert len(one.calls) < 100
        assert (await one.ask(streaming(dialect), body, **key)).status == 402
        await thoughts.gone.wait()
        booked = sum(call.usage.total for call in one.calls)
        assert booked >= sum(thoughts.bills), "never less than the provider bills"
