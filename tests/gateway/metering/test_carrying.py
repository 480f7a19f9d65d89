"""Requests go out with the real secret and come back byte for byte; each that left is written down once."""

import asyncio
import gzip
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from midwatch.gateway.metering import (
    ANTHROPIC,
    GEMINI,
    OPENAI,
    MemoryLedger,
    ModelCredential,
    Provider,
    RecordingFailed,
    TokenUsage,
)
from midwatch.rules.budget.reservation import Refusal, Reservation, ReservationRequest
from midwatch.rules.budget.spending import Amount, Ceilings, Whose
from tests.gateway.metering.lab import QUICK, SECRET, FarModel, Got, answer, lab, message
from tests.gateway.metering.streams import RECORDED, Recorded
from tests.patience import PATIENCE

WAYS: dict[str, tuple[Provider, str, dict[str, object]]] = {
    "messages": (ANTHROPIC, "/v1/messages?beta=true", {"model": "claude-sonnet-4-5", "max_tokens": 9, "stream": True}),
    "responses": (OPENAI, "/v1/responses", {"model": "gpt-5", "stream": True}),
    "chat": (OPENAI, "/v1/chat/completions", {"model": "gpt-4.1", "stream": True}),
    "generate": (GEMINI, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", {"contents": []}),
}


def dripping(recorded: Recorded, size: int = 100, upto: int | None = None, extra: str = "") -> FarModel:
    """A provider that sends a recorded answer in chunks, and hangs up early where told."""

    async def talk(_got: Got, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {recorded.content_type}\r\n{extra}Transfer-Encoding: chunked\r\n\r\n"
        writer.write(head.encode())
        data = recorded.whole[:upto]
        for at in range(0, len(data), size):
            part = data[at : at + size]
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()
            await asyncio.sleep(0)
        if upto is not None:
            writer.close()
            return
        writer.write(b"0\r\nX-Trailer: dropped\r\n\r\n")
        await writer.drain()

    return FarModel(talk=talk)


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda one: one.name)
async def test_every_api_passes_byte_for_byte_and_is_counted(recorded: Recorded) -> None:
    provider, path, body = WAYS[recorded.api]
    async with lab(dripping(recorded), provider=provider) as one:
        heard = await one.ask(path, body)
        call = await one.call()
        assert heard.status == 200
        assert heard.whole
        assert heard.body == recorded.whole
        assert "x-trailer" not in heard.raw.decode("utf-8", "replace").lower()
        assert call.usage == recorded.usage
        assert call.usd_micros > 0
        assert (call.api, call.provider, call.cut, call.why) == (recorded.api, provider.name, False, "")
        assert one.ledger.budget(Whose.JOB, "job").spent == Amount(call.usd_micros, recorded.usage.total, 1)
        assert one.ledger.budget(Whose.JOB, "job").reserved == Amount()
        assert len(one.calls) == 1


@pytest.mark.parametrize(
    ("provider", "kind", "given", "sent"),
    [
        (ANTHROPIC, "api_key", "x-api-key", ("x-api-key", SECRET)),
        (ANTHROPIC, "oauth", "authorization", ("authorization", f"Bearer {SECRET}")),
        (ANTHROPIC, "oauth", "x-api-key", ("authorization", f"Bearer {SECRET}")),
        (OPENAI, "api_key", "authorization", ("authorization", f"Bearer {SECRET}")),
        (GEMINI, "api_key", "x-goog-api-key", ("x-goog-api-key", SECRET)),
        (GEMINI, "api_key", "?key", ("x-goog-api-key", SECRET)),
    ],
    ids=lambda value: str(getattr(value, "name", value))[:20],
)
async def test_exactly_one_credential_leaves_and_never_the_placeholder(
    provider: Provider, kind: str, given: str, sent: tuple[str, str]
) -> None:
    async with lab(provider=provider, credential=ModelCredential("model", kind)) as one:  # type: ignore[arg-type]
        path = {"anthropic": "/v1/messages", "openai": "/v1/responses"}.get(provider.name, GENERATE)
        mark = one.grant.placeholder
        limits = {"max_tokens": 9, "max_output_tokens": 9, "generationConfig": {"maxOutputTokens": 9}}
        model = "gemini-2.5-pro" if provider is GEMINI else "claude-sonnet-4-5"
        body = {"model": model, "input": f"env says ANTHROPIC_API_KEY={mark}", **limits}
        fields = {"anthropic-beta": "oauth-2025-04-20", "Cookie": "a=b", "X-Odd": "1", "User-Agent": f"tool {mark}"}
        if given == "?key":
            path += f"?key={mark}&alt={mark}"
        else:
            fields[given] = f"Bearer {mark}" if given == "authorization" else mark
        heard = await one.ask(path, body, key="", fields=fields)
        assert heard.status == 200
        got = await one.far.has_got()
        left = got.fields()
        credentials = {name: left[name] for name in left if name in {"x-api-key", "authorization", "x-goog-api-key"}}
        assert credentials == dict([sent])
        assert mark not in got.head
        assert mark.encode() not in got.body
        assert len(got.body) == len(json.dumps(body))
        assert left["accept-encoding"] == "identity"
        assert ("anthropic-beta" in left) == (provider is ANTHROPIC)
        assert not {"cookie", "x-odd", "user-agent"} & set(left)
        assert SECRET.encode() not in heard.raw


GENERATE = "/v1beta/models/gemini-2.5-pro:generateContent"


@pytest.mark.parametrize(("provider", "where"), [(ANTHROPIC, "type"), (OPENAI, "code"), (GEMINI, "status")])
@pytest.mark.parametrize("key", ["", "wrong", "Bearer ", "\xff"])
async def test_a_wrong_or_missing_placeholder_is_refused_in_the_providers_shape(
    provider: Provider, where: str, key: str
) -> None:
    path = {"anthropic": "/v1/messages", "openai": "/v1/responses"}.get(provider.name, GENERATE)
    async with lab(provider=provider) as one:
        heard = await one.ask(path, key=key)
        assert heard.status == 401
        assert heard.json()["error"][where] in {"authentication_error", "invalid_api_key", "UNAUTHENTICATED"}
        twice = await one.ask(path, fields={"Authorization": "Bearer other"})
        assert twice.status == 401
        assert not one.far.got
        assert not one.calls


async def test_usage_is_asked_for_where_a_chat_tells_it_only_then() -> None:
    async with lab(provider=OPENAI) as one:
        key = {"Authorization": f"Bearer {one.grant.placeholder}"}
        for number, options in enumerate([None, {"other": 1}, {"include_usage": True}], 1):
            said = {"model": "gpt-4.1", "max_tokens": 9, "stream": True, "stream_options": options, "messages": ["ü"]}
            await one.ask("/v1/chat/completions", said, key="", fields=key)
            got = json.loads((await one.far.has_got(number)).body)
            assert got == {**said, "stream_options": {**(options or {}), "include_usage": True}}
        whole = {"model": "gpt-4.1", "max_tokens": 9, "messages": []}
        await one.ask("/v1/chat/completions", whole, key="", fields=key)
        assert json.loads((await one.far.has_got(4)).body) == whole


async def test_the_next_part_comes_while_the_provider_is_still_thinking() -> None:
    """Nothing is kept back: the job reads each part before the next one is written."""
    go = asyncio.Event()

    async def talk(_got: Got, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in range(5):
            part = f"data: {number}\n\n".encode()
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            await go.wait()
            go.clear()
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async with lab(FarModel(talk=talk)) as one:
        reader, writer = await one.dial()
        writer.write(one.post())
        for number in range(5):
            await reader.readuntil(f"data: {number}\n\n".encode())
            go.set()
        assert (await reader.read()).endswith(b"0\r\n\r\n")
        writer.close()


async def test_a_job_that_hangs_up_ends_the_request_outside() -> None:
    recorded = RECORDED[0]
    gone = asyncio.Event()

    async def talk(_got: Got, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + recorded.whole[:900])
        await writer.drain()
        assert await reader.read() == b""
        gone.set()

    async with lab(FarModel(talk=talk)) as one:
        reader, writer = await one.dial()
        writer.write(one.post())
        await reader.readuntil(b"message_start")
        await reader.read(10)
        writer.close()
        await asyncio.wait_for(gone.wait(), PATIENCE)
        call = await one.call()
        assert call.cut
        assert call.why == "The job hung up before its answer was complete."
        assert call.usage.input == 100
        assert call.status == 200


@pytest.mark.parametrize("recorded", [RECORDED[0], RECORDED[1]], ids=lambda one: one.name)
async def test_a_provider_that_hangs_up_is_passed_on_as_a_cut(recorded: Recorded) -> None:
    provider, path, body = WAYS[recorded.api]
    async with lab(dripping(recorded, upto=1500), provider=provider) as one:
        heard = await one.ask(path, body)
        call = await one.call()
        assert not heard.whole
        assert heard.body == recorded.whole[:1500]
        known = recorded.known_at(1500)
        assert call.usage == (known if known.input else replace(known, input=call.usage.input, estimated=True))
        assert call.usage.input > 0
        assert call.usage.output > 0
        assert call.cut
        assert call.why == "The provider hung up in the middle of its answer."


async def test_a_provider_that_hangs_up_without_a_word_costs_nothing() -> None:
    async def talk(_got: Got, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with lab(FarModel(talk=talk)) as one:
        heard = await one.ask()
        assert heard.status == 502
        assert heard.json()["error"]["message"] == "The provider hung up without an answer."
        assert (await one.call()).usage == TokenUsage()


async def test_a_request_that_cannot_leave_is_given_back_and_not_written_down() -> None:
    far = FarModel()
    async with lab(far) as one:
        one.proxy._exchange._grant = replace(one.grant, provider=ANTHROPIC.at("http://127.0.0.1:1"))
        heard = await one.ask()
        assert heard.status == 502
        assert heard.json()["error"]["message"] == "The provider cannot be reached."
        assert one.calls == []
        budget = one.ledger.budget(Whose.JOB, "job")
        assert (budget.spent, budget.reserved) == (Amount(), Amount())


async def silent(_got: Got, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def half(_got: Got, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf")
    await reader.read()


async def drip(_got: Got, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    while True:
        writer.write(b":\n")
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("talk", "limits", "status", "why"),
    [
        (silent, {"first": 0.2}, 504, "The provider did not answer in time."),
        (half, {"quiet": 0.2}, 200, "The provider sent nothing for 0.2 seconds."),
        (drip, {"whole": 3}, 200, "A request may last at most 3 seconds."),
    ],
    ids=["silent", "half", "drip"],
)
async def test_time_runs_out_on_every_kind_of_slowness(
    talk: Callable[..., object], limits: dict[str, float], status: int, why: str
) -> None:
    async with lab(FarModel(talk=talk), patience=replace(QUICK, **limits)) as one:  # type: ignore[arg-type]
        heard = await one.ask()
        call = await one.call()
        assert heard.status == status
        assert (call.why, call.cut) == (why, True)
        assert heard.reset == (status == 200)
        # The provider may have worked, and may bill what it was given.
        assert call.usage.input > 0
        assert call.usage.estimated
        assert call.usage.output == 50, (
            "as much as it asked for: the provider may have made it, and was not heard to the end"
        )
        await one.far.is_alone()


async def test_a_job_that_reads_nothing_holds_the_provider_back() -> None:
    sent = 0

    async def talk(_got: Got, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        while True:
            writer.write(b":" * 65_535 + b"\n")
            await writer.drain()
            sent += 65_536

    async with lab(FarModel(talk=talk), patience=replace(QUICK, stalled=0.5)) as one:
        _, writer = await one.dial()
        writer.write(one.post())
        call = await one.call()
        assert call.why == "The job hung up before its answer was complete."
        assert sent < 64_000_000
        writer.transport.abort()


async def test_a_packed_answer_passes_as_it_is_and_is_counted() -> None:
    packed = gzip.compress(message(output=33))
    async with lab(FarModel(answer(packed, Content_Encoding="gzip"))) as one:
        heard = await one.ask()
        assert heard.body == packed
        assert "content-encoding: gzip" in heard.head
        assert (await one.call()).usage == TokenUsage(input=100, output=33)


class SlowLedger(MemoryLedger):
    """Finishes what it has begun, like the one on disk, and only when told."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go, self.back = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def reserve(self, wish: ReservationRequest) -> Reservation | Refusal:
        self.begun.set()
        return await asyncio.shield(asyncio.create_task(self._slowly(wish)))

    async def release(self, reservation: Reservation) -> None:
        await super().release(reservation)
        self.back.set()

    async def _slowly(self, wish: ReservationRequest) -> Reservation | Refusal:
        await self.go.wait()
        return await super().reserve(wish)


@pytest.mark.parametrize("linger", [10, 0.01], ids=["closing waits for it", "closing does not wait long"])
async def test_what_is_set_aside_while_the_door_closes_is_given_back(linger: float) -> None:
    ledger = SlowLedger()
    async with lab(ledger=ledger, patience=replace(QUICK, linger=linger)) as one:
        _, writer = await one.dial()
        writer.write(one.post())
        await ledger.begun.wait()
        closing = asyncio.create_task(one.proxy.close())
        if linger < 1:
            await asyncio.wait_for(closing, PATIENCE)
        else:
            await asyncio.wait({closing}, timeout=0.05)
            assert not closing.done()
        ledger.go.set()
        await asyncio.wait_for(ledger.back.wait(), PATIENCE)
        await closing
        budget = ledger.budget(Whose.JOB, "job")
        assert (budget.spent, budget.reserved) == (Amount(), Amount())
        assert await ledger.held() == ()
        assert one.far.got == []
        writer.transport.abort()


async def test_closing_cuts_what_is_under_way_and_books_it() -> None:
    recorded = RECORDED[0]

    async def talk(_got: Got, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + recorded.whole[:900])
        await reader.read()

    async with lab(FarModel(talk=talk)) as one:
        reader, writer = await one.dial()
        writer.write(one.post())
        await reader.readuntil(b"message_start")
        await one.proxy.close()
        assert one.calls[0].why == "The network of this job was closed."
        assert one.calls[0].usage.input == 100
        assert one.ledger.budget(Whose.JOB, "job").reserved == Amount()
        writer.transport.abort()


async def test_what_cannot_be_written_down_ends_the_serving() -> None:
    async with lab() as one:
        one.failing = True
        heard = await one.ask()
        assert not heard.whole or heard.raw == b""
        assert one.serving is not None
        with pytest.raises(ExceptionGroup) as failed:
            await one.serving
        assert failed.group_contains(RecordingFailed)
        with pytest.raises(ConnectionRefusedError):
            await one.dial()


async def test_a_subscription_costs_no_dollars_but_its_tokens_count() -> None:
    ceilings = {Whose.JOB: Ceilings(usd_micros=0, tokens=200)}
    async with lab(
        FarModel(answer(message(150, 100))), credential=ModelCredential("model", "oauth"), ceilings=ceilings
    ) as one:
        first = await one.ask()
        second = await one.ask()
        assert (first.status, second.status) == (200, 402)
        assert one.calls[0].usd_micros == 0
        assert one.calls[0].usage.total == 250
        assert second.json()["error"]["type"] == "billing_error"
        assert second.json()["error"]["message"].startswith("The job has used 250 tokens of 200 tokens.")
        assert len(one.far.got) == 1


async def test_an_error_of_the_provider_passes_and_costs_nothing() -> None:
    body = b'{"type":"error","error":{"type":"overloaded_error","message":"busy"}}'
    async with lab(FarModel(answer(body, "529 ", request_id="req_1", Retry_After="7", Set_Cookie="a=b"))) as one:
        heard = await one.ask()
        call = await one.call()
        assert heard.status == 529
        assert heard.body == body
        assert "retry-after: 7" in heard.head
        assert "set-cookie" not in heard.head
        assert (call.usage, call.usd_micros, call.status, call.request_id) == (TokenUsage(), 0, 529, "req_1")
        assert not call.cut


async def test_the_provider_says_which_model_is_paid() -> None:
    async with lab(FarModel(answer(message(1000, 1000, "claude-opus-4-1")))) as one:
        await one.ask(body={"model": "claude-3-haiku-20240307", "max_tokens": 5})
        call = await one.call()
        assert call.model == "claude-opus-4-1"
        assert call.usd_micros == 90_000


async def test_counting_is_free_but_a_request_all_the_same() -> None:
    free = "/v1/messages/count_tokens?beta=true&odd=1"
    async with lab(ceilings={Whose.JOB: Ceilings(usd_micros=0, tokens=0, requests=1)}) as one:
        assert (await one.ask(free)).status == 200
        assert one.far.got[0].first == "POST /v1/messages/count_tokens?beta=true HTTP/1.1"
        assert [call.usd_micros for call in one.calls] == [0]
        assert (await one.ask(free)).status == 402
