"""Random mutations: the parsers turn away or read, and what they read is still bound by the list."""

import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.gateway.egress.connection import EgressRefused
from midwatch.gateway.egress.http_head import LARGEST_HEAD, ProxyRequest, read_request, read_response
from midwatch.gateway.egress.tls import asks_again, read_hello
from tests.gateway.egress.lab import FarEnd, client_hello, far_end, in_records, lab, real_hello, server_name
from tests.gateway.egress.test_tunnels import RETRY, SERVER_HELLO

HEADS = [
    b"GET http://files.example/a HTTP/1.1\r\nHost: files.example\r\nAccept: */*\r\n\r\n",
    b"POST http://files.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
    b"POST http://files.example:80/ HTTP/1.1\r\nContent-Length: 10\r\nConnection: close, x\r\n\r\n",
    b"CONNECT files.example:443 HTTP/1.1\r\nHost: files.example:443\r\n\r\n",
]
HELLOS = [
    in_records(client_hello("evil.example")),
    in_records(client_hello("evil.example", extensions=[server_name("evil.example"), (0x0A0A, b"")]), 9),
    in_records(client_hello("evil.example", extensions=[(0xFE0D, bytes(20))])),
    real_hello("evil.example"),
]
SPICE = [
    *(
        b"\r",
        b"\n",
        b"\r\n",
        b"\0",
        b" ",
        b"\t",
        b":",
        b"@",
        b"#",
        b"[::1]",
        b"%0d%0a",
        b"\xff",
        b"http://evil.example/",
    ),
    *(b"Content-Length: 1\r\n", b"Transfer-Encoding: chunked\r\n", b"\x16\x03\x01", b"\x00\x00", b"\xfe\x0d"),
]

edits = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 4), st.sampled_from(SPICE) | st.binary(max_size=4)),
    min_size=1,
    max_size=6,
)


def mutated(raw: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    """Replace a few bytes at each place by others."""
    for where, gone, put in changes:
        at = int(where * len(raw))
        raw = raw[:at] + put + raw[at + gone :]
    return raw


def read_or_why(raw: bytes) -> ProxyRequest | str:
    try:
        return read_request(raw)
    except EgressRefused as turned:
        return turned.message


@given(st.sampled_from(HEADS), edits)
def test_a_mutated_head_is_read_or_turned_away_and_never_two_ways(
    raw: bytes, changes: list[tuple[float, int, bytes]]
) -> None:
    sent = mutated(raw, changes)
    request = read_or_why(sent)
    if isinstance(request, str):
        assert request.endswith(".")
        assert request.isascii()
        return
    assert len(sent) <= LARGEST_HEAD
    assert sent.count(b"\n") == sent.count(b"\r") == sent.count(b"\r\n")
    assert request.length is None or not request.chunked
    assert sent.lower().count(b"\r\ncontent-length") <= 1 or request.length is None
    assert 1 <= request.port <= 65535
    assert "@" not in request.host
    assert not set(" \t\r\n\0") & set(request.host + request.path)


@given(st.binary(max_size=400) | st.binary(max_size=400).map(lambda raw: raw + b"\r\n\r\n"))
def test_noise_is_turned_away(raw: bytes) -> None:
    for read in (read_request, read_response):
        try:
            read(raw)
        except EgressRefused:
            continue
        assert raw.endswith(b"\r\n\r\n")


@given(st.sampled_from(HELLOS), edits, st.booleans())
def test_a_mutated_hello_for_another_host_never_becomes_one_for_ours(
    raw: bytes, changes: list[tuple[float, int, bytes]], again: bool
) -> None:
    sent = mutated(raw, changes)
    try:
        hello = read_hello(sent, again=again)
    except EgressRefused:
        return
    assert hello is None or hello.name.lower() != "files.example"
    assert hello is None or hello.end <= len(sent)


@given(st.sampled_from(HELLOS[:1] + HELLOS[3:]), st.data())
def test_a_hello_means_the_same_however_it_is_cut(raw: bytes, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(raw) - 1))
    assert read_hello(raw[:cut]) is None
    hello = read_hello(raw + data.draw(st.binary(max_size=20)))
    assert hello is not None
    assert (hello.name, hello.end) == ("evil.example", len(raw))


@given(st.binary(max_size=200), edits, st.sampled_from([RETRY, SERVER_HELLO]))
def test_a_first_flight_of_any_kind_is_judged(
    noise: bytes, changes: list[tuple[float, int, bytes]], raw: bytes
) -> None:
    for flight in (noise, b"\x16" + noise, mutated(raw, changes)):
        try:
            asks_again(flight)
        except EgressRefused:
            continue


@pytest.mark.parametrize("seed", range(8))
async def test_a_proxy_under_mutated_requests_stays_up_and_reaches_nobody_else(seed: int) -> None:
    """Whole requests at the real proxy: each ends in an answer and a record, and only the listed name is asked."""
    chance = Random(seed)  # noqa: S311 - the same mutations each time
    async with far_end(FarEnd()) as end, lab(world={"files.example": [("127.0.0.1", end.port)]}) as job:
        sent = []
        for _ in range(40):
            changes = [
                (chance.random(), chance.randrange(5), chance.choice([*SPICE, chance.randbytes(3)]))
                for _ in range(chance.randrange(1, 4))
            ]
            sent.append(mutated(chance.choice([HEADS[0], HEADS[2] + b"0123456789"]), changes) + b"\r\n\r\n")
        await asyncio.gather(*(job.say(raw) for raw in sent))
        await job.record(len(sent))
        assert len(job.records) == len(sent)
        assert set(job.asked) <= {"files.example:80"}
        assert not [record for record in job.records if "internal error" in record.why]
        assert (await job.say(HEADS[0])).endswith(b"hello")
