"""An answer cut anywhere counts what was known there: neither more nor less, however its bytes come."""

import gzip
import json
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.gateway.metering.calls import TokenUsage
from midwatch.gateway.metering.counting import UsageCounter
from midwatch.gateway.metering.counting.sse import SseReader
from tests.gateway.metering.streams import RECORDED, Recorded, messages_stream

each = pytest.mark.parametrize("recorded", RECORDED, ids=lambda one: one.name)


def counter(recorded: Recorded, encoding: str = "") -> UsageCounter:
    return UsageCounter(recorded.api, recorded.content_type, encoding)


def cut_at(recorded: Recorded, byte: int) -> TokenUsage:
    one = counter(recorded)
    one.feed(recorded.whole[:byte])
    one.end()
    return one.usage


@each
def test_a_stream_cut_at_every_byte_counts_what_its_server_has_said(recorded: Recorded) -> None:
    for byte in range(len(recorded.whole) + 1):
        assert cut_at(recorded, byte) == recorded.known_at(byte), byte


@each
def test_the_count_grows_and_never_passes_the_whole(recorded: Recorded) -> None:
    one, before, whole = counter(recorded), TokenUsage(), recorded.usage
    for byte in recorded.whole:
        one.feed(bytes([byte]))
        now = one.usage
        for kind in ("input", "output", "cache_read", "cache_write", "cache_write_1h", "total"):
            assert getattr(before, kind) <= getattr(now, kind) <= getattr(whole, kind)
        before = now
    one.end()
    assert one.usage == whole
    assert not whole.estimated
    assert one.reported_input
    assert one.model.startswith(("claude", "gpt", "gemini"))


@given(st.sampled_from(RECORDED), st.lists(st.integers(0, 8000), max_size=30))
def test_chunks_do_not_matter(recorded: Recorded, cuts: list[int]) -> None:
    one, at = counter(recorded), 0
    for cut in sorted(cuts):
        one.feed(recorded.whole[at:cut])
        at = max(at, cut)
    one.feed(recorded.whole[at:])
    one.end()
    assert one.usage == recorded.usage


@given(st.sampled_from(RECORDED), st.binary(max_size=200), st.integers(0, 4000))
def test_garbage_never_breaks_the_count(recorded: Recorded, garbage: bytes, at: int) -> None:
    one = counter(recorded)
    one.feed(recorded.whole[:at] + garbage + recorded.whole[at:])
    one.end()
    assert one.usage.total >= 0


@given(st.sampled_from([one.api for one in RECORDED]), st.sampled_from(["", "text/event-stream", "application/json"]))
def test_words_that_are_no_numbers_are_not_counted(api: str, content_type: str) -> None:
    odd = {"input_tokens": "9", "output_tokens": True, "cache_read_input_tokens": -4, "prompt_tokens": 1e9}
    event = {"type": "message_delta", "usage": odd, "response": {"usage": odd}, "usageMetadata": [odd], "choices": 3}
    one = UsageCounter(api, content_type)  # type: ignore[arg-type]
    one.feed(b"data: " * (content_type != "application/json") + json.dumps(event).encode() + b"\n\n")
    one.end()
    assert one.usage == TokenUsage()


@pytest.mark.parametrize("ending", [b"\r\n", b"\r", b"\n"], ids=["crlf", "cr", "lf"])
def test_every_line_ending_of_the_standard_is_read(ending: bytes) -> None:
    recorded = messages_stream()
    one = counter(recorded)
    for byte in recorded.whole.replace(b"\n", ending):
        one.feed(bytes([byte]))
    assert one.usage == recorded.usage


@each
@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data)[2:-4]),
        ("identity", bytes),
    ],
    ids=["gzip", "zlib", "bare deflate", "identity"],
)
def test_a_packed_answer_counts_the_same(recorded: Recorded, encoding: str, pack: Callable[[bytes], bytes]) -> None:
    one, packed = counter(recorded, encoding), pack(recorded.whole)
    for at in range(0, len(packed), 7):
        one.feed(packed[at : at + 7])
    one.end()
    assert one.usage == recorded.usage


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip", "nonsense", "gzip"])
def test_what_cannot_be_unpacked_is_guessed_and_never_nothing(encoding: str) -> None:
    one = UsageCounter("messages", "text/event-stream", encoding)
    one.feed(b"\xff" * 41)
    one.end()
    assert one.usage == TokenUsage(output=11, estimated=True)
    assert not one.reported_input


def test_a_bomb_is_not_unpacked_to_its_end() -> None:
    one = UsageCounter("messages", "text/event-stream", "gzip")
    one.feed(gzip.compress(b"\n" * 70_000_000))
    assert one.usage.estimated


def test_the_providers_word_replaces_a_higher_guess() -> None:
    one = UsageCounter("chat", "text/event-stream")
    one.feed(b'data: {"choices":[{"delta":{"content":"' + b"a" * 400 + b'"}}]}\n\n')
    assert one.usage == TokenUsage(output=100, estimated=True)
    one.feed(b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":3}}\n\n')
    assert one.usage == TokenUsage(input=1, output=3)


def test_one_letter_is_never_nothing() -> None:
    one = UsageCounter("chat", "text/event-stream")
    one.feed(b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n')
    assert one.usage.output == 1


def test_an_event_beyond_all_bounds_is_passed_over() -> None:
    events = SseReader(largest=100)
    assert events.feed(b"data: " + b"x" * 200) == []
    assert events.feed(b"x" * 200 + b"\n\ndata: after\n\n") == [b"after"]


def test_counting_costs_nothing() -> None:
    one = UsageCounter("count", "application/json")
    one.feed(b'{"input_tokens": 5, "usage": {"output_tokens": 5}}')
    assert one.usage == TokenUsage()
    assert one.reported_input


@pytest.mark.parametrize("recorded", [RECORDED[0], RECORDED[4]], ids=lambda one: one.name)
def test_an_answer_that_does_not_say_what_it_is_is_looked_at(recorded: Recorded) -> None:
    one = UsageCounter(recorded.api)
    one.feed(b"\n ")
    one.feed(recorded.whole)
    assert one.usage == recorded.usage
