"""Plain requests: honest ones pass, written anew; whatever two readers could read differently is refused."""

import asyncio
from dataclasses import replace

import pytest

from midwatch.gateway.egress import EgressCaps
from tests.gateway.egress.lab import HELLO, QUICK, FarEnd, far_end, lab

GET = b"GET http://files.example/a?b=c HTTP/1.1\r\nHost: files.example\r\n"
POST = b"POST http://files.example/a HTTP/1.1\r\nHost: files.example\r\n"


async def test_an_honest_request_is_written_anew_and_recorded() -> None:
    async with far_end(FarEnd()) as end, lab(world={"files.example": [("127.0.0.1", end.port)]}) as job:
        heard = await job.say(
            GET + b"Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nProxy-Authorization: Basic x\r\nKeep-Alive: 5\r\n"
            b"TE: trailers\r\nUpgrade: h2c\r\nProxy-Connection: keep-alive\r\nAccept: */*\r\n\r\n"
        )
        assert heard == HELLO.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        assert end.heard == [b"GET /a?b=c HTTP/1.1\r\nHost: files.example\r\nConnection: close\r\nAccept: */*\r\n\r\n"]
        record = await job.record()
        assert (record.host, record.port, record.address, record.verdict) == (
            "files.example", 80, "127.0.0.1", "allowed",
        )  # fmt: skip
        assert record.why == "files.example is on the list by files.example."
        assert (record.bytes_out, record.bytes_in) == (len(end.heard[0]), len(heard))
        assert job.asked == ["files.example:80"]
        assert job.egress.counts.requests == 1


@pytest.mark.parametrize(
    ("sent", "arrives"),
    [
        (POST + b"Content-Length: 3\r\n\r\nabc", b"Content-Length: 3\r\n\r\nabc"),
        (
            POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n",
        ),
        (POST + b"Expect: 100-Continue\r\nContent-Length: 3\r\n\r\nabc", b"Content-Length: 3\r\n\r\nabc"),
        (POST + b"Content-Length: 0\r\n\r\nGET http://files.example/2 HTTP/1.1\r\n\r\n", b"Content-Length: 0\r\n\r\n"),
        (GET + b"\r\nGET http://files.example/smuggled HTTP/1.1\r\n\r\n", b"Connection: close\r\n\r\n"),
        (GET.replace(b"Host: files.example", b"Host: evil.example") + b"\r\n", b"Connection: close\r\n\r\n"),
    ],
    ids=["length", "chunked", "expect", "pipelined behind an empty body", "pipelined", "another Host"],
)
async def test_the_far_end_hears_one_request_and_nothing_behind_it(sent: bytes, arrives: bytes) -> None:
    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard = await reader.readuntil(arrives)
        writer.write(HELLO)
        await writer.drain()
        end.hear(heard + await reader.read())

    async with far_end(FarEnd(talk=listen)) as end, lab(world={"files.example": [("127.0.0.1", end.port)]}) as job:
        heard = await job.say(sent)
        assert heard.endswith(b"hello")
        assert (await job.record()).verdict == "allowed"
        assert (await end.has_heard()).endswith(arrives)
        assert end.heard[0].count(b"HTTP/1.1") == 1
        assert b"Host: files.example\r\n" in end.heard[0]


ODD_HEADS = {
    "both framings": (POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "in two ways"),
    "two lengths": (POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "twice"),
    "the same length twice": (POST + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "twice"),
    "a list of lengths": (POST + b"Content-Length: 3, 3\r\n\r\nabc", "not a plain number"),
    "a signed length": (POST + b"Content-Length: +3\r\n\r\nabc", "not a plain number"),
    "a length in hex": (POST + b"Content-Length: 0x3\r\n\r\nabc", "not a plain number"),
    "an endless length": (POST + b"Content-Length: " + b"9" * 30 + b"\r\n\r\nabc", "not a plain number"),
    "two codings": (POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "twice"),
    "gzip, chunked": (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "not plain chunked"),
    "xchunked": (POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "not plain chunked"),
    "chunked with a vertical tab": (POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", "invalid characters"),
    "chunked in 1.0": (POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "plain chunked"),
    "a space before the colon": (POST + b"Content-Length : 3\r\n\r\nabc", "malformed"),
    "a folded line": (POST + b"X: 1\r\n Content-Length: 3\r\n\r\nabc", "malformed"),
    "no colon": (GET + b"nonsense\r\n\r\n", "malformed"),
    "an empty name": (GET + b": 3\r\n\r\n", "malformed"),
    "a bare LF": (GET + b"X: 1\nContent-Length: 3\r\n\r\n", "invalid characters"),
    "a bare CR": (GET + b"X: 1\rContent-Length: 3\r\n\r\n", "invalid characters"),
    "a NUL": (GET + b"X: 1\0\r\n\r\n", "invalid characters"),
    "two hosts": (GET + b"Host: evil.example\r\n\r\n", "two hosts"),
    "origin form": (b"GET / HTTP/1.1\r\nHost: files.example\r\n\r\n", "not an http:// address"),
    "https to be opened": (b"GET https://files.example/ HTTP/1.1\r\n\r\n", "not an http:// address"),
    "ftp": (b"GET ftp://files.example/ HTTP/1.1\r\n\r\n", "not an http:// address"),
    "four words": (b"GET http://files.example/ x HTTP/1.1\r\n\r\n", "first line"),
    "a tab for a space": (b"GET\thttp://files.example/ HTTP/1.1\r\n\r\n", "first line"),
    "HTTP/2.0": (b"GET http://files.example/ HTTP/2.0\r\n\r\n", "first line"),
    "HTTP/0.9": (b"GET http://files.example/\r\n\r\n", "first line"),
    "an empty first line": (b"\r\n\r\n", "first line"),
    "a fragment": (b"GET http://files.example/#a HTTP/1.1\r\n\r\n", "fragment"),
    "a lower-case method": (b"get http://files.example/ HTTP/1.1\r\n\r\n", "method"),
    "TRACE": (b"TRACE http://files.example/ HTTP/1.1\r\n\r\n", "method"),
    "a strange wish": (GET + b"Expect: miracles\r\n\r\n", "expects"),
    "too many fields": (GET + b"A: 1\r\n" * 101 + b"\r\n", "too many fields"),
    "too large": (GET + b"A: " + b"x" * 40_000 + b"\r\n\r\n", "too large"),
    "too large, without an end": (GET + b"A: " + b"x" * 200_000, "too large"),
    "non-ASCII host": ("GET http://bücher.example/ HTTP/1.1\r\n\r\n".encode(), "invalid characters"),
    "user": (b"GET http://me:pw@files.example/ HTTP/1.1\r\n\r\n", "a user or a password"),
    "user as a disguise": (b"GET http://files.example@evil.example/ HTTP/1.1\r\n\r\n", "a user or a password"),
    "backslash": (b"GET http://evil.example\\.files.example/ HTTP/1.1\r\n\r\n", "not a plain host name"),
    "address": (b"GET http://127.0.0.1/ HTTP/1.1\r\n\r\n", "an address"),
    "address in brackets": (b"GET http://[::1]/ HTTP/1.1\r\n\r\n", "an address"),
    "decimal address": (b"GET http://2130706433/ HTTP/1.1\r\n\r\n", "an address"),
    "bad port": (b"GET http://files.example:http/ HTTP/1.1\r\n\r\n", "plain port"),
    "port with a plus": (b"GET http://files.example:+80/ HTTP/1.1\r\n\r\n", "plain port"),
    "another port": (b"GET http://files.example:8080/ HTTP/1.1\r\n\r\n", "not port 8080"),
    "ssh": (b"CONNECT files.example:22 HTTP/1.1\r\n\r\n", "not port 22"),
    "plain to 443": (b"GET http://files.example:443/ HTTP/1.1\r\n\r\n", "accepts TLS only"),
    "a stranger": (b"GET http://evil.example/ HTTP/1.1\r\n\r\n", "evil.example is not on the list of this job."),
    "tunnel to a stranger": (b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n", "evil.example is not on the list"),
    "tunnel to an address": (b"CONNECT 93.184.215.14:443 HTTP/1.1\r\n\r\n", "an address"),
    "tunnel without a port": (b"CONNECT files.example HTTP/1.1\r\n\r\n", "plain port"),
    "tunnel with a body": (b"CONNECT files.example:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "no body"),
    "tunnel with a scheme": (b"CONNECT https://files.example:443 HTTP/1.1\r\n\r\n", "an address"),
}


@pytest.mark.parametrize("case", ODD_HEADS)
async def test_an_odd_request_is_refused_before_anyone_is_asked(case: str) -> None:
    sent, why = ODD_HEADS[case]
    async with far_end(FarEnd()) as end, lab(world={"files.example": [("127.0.0.1", end.port)]}) as job:
        heard = await job.say(sent)
        record = await job.record()
        assert record.verdict == "refused"
        assert why in record.why
        assert heard.startswith(b"HTTP/1.1 4")
        assert record.why.encode() in heard
        assert not end.heard
        assert not job.asked


BAD_CHUNKS = {
    "no hex": b"zz\r\nabc\r\n0\r\n\r\n",
    "signed": b"+3\r\nabc\r\n0\r\n\r\n",
    "0x": b"0x3\r\nabc\r\n0\r\n\r\n",
    "extension": b"3;a=b\r\nabc\r\n0\r\n\r\n",
    "space": b"3 \r\nabc\r\n0\r\n\r\n",
    "bare LF": b"3\nabc\r\n0\r\n\r\n",
    "bare LF behind the data": b"3\r\nabc\n0\r\n\r\n",
    "too long data": b"3\r\nabcd\r\n0\r\n\r\n",
    "overflowing size": b"fffffffff\r\nabc",
    "endless size": b"0" * 100_000,
    "trailers": b"0\r\nX: 1\r\n\r\n",
    "bare CR": b"3\rabc\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("case", BAD_CHUNKS)
async def test_bad_chunking_cuts_the_request_off(case: str) -> None:
    async def listen(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        end.hear(await reader.read())

    async with far_end(FarEnd(talk=listen)) as end, lab(world={"files.example": [("127.0.0.1", end.port)]}) as job:
        heard = await job.say(POST + b"Transfer-Encoding: chunked\r\n\r\n" + BAD_CHUNKS[case])
        record = await job.record()
        assert record.verdict == "refused"
        assert "badly chunked" in record.why
        assert heard.startswith(b"HTTP/1.1 400")
        assert b"0\r\n\r\n" not in await end.has_heard()


async def test_a_head_that_drips_for_ever_meets_a_deadline_for_the_whole_of_it() -> None:
    async with lab(deadlines=replace(QUICK, head=0.5)) as job:
        reader, writer = await job.dial()
        writer.write(b"GET http://files.example/ HTTP/1.1\r\n")
        while not job.records:
            writer.write(b"A: b\r\n")
            await asyncio.sleep(0.05)
        assert (await reader.read()).startswith(b"HTTP/1.1 408")
        writer.close()
        assert job.records[0].why == "The job opened a connection and did not finish its request in time."


@pytest.mark.parametrize(("sent", "verdict"), [(b"", "refused"), (GET, "refused"), (POST, "refused")])
async def test_a_job_that_hangs_up_early_leaves_a_record(sent: bytes, verdict: str) -> None:
    async with lab() as job:
        _, writer = await job.dial()
        writer.write(sent)
        writer.close()
        assert (await job.record()).verdict == verdict


ODD_ANSWERS = {
    "nothing": b"",
    "not http": b"SSH-2.0-OpenSSH\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "a strange coding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhello",
    "a switch of protocols": b"HTTP/1.1 101 Switching Protocols\r\n\r\nhello",
    "endless interim answers": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20,
    "a bare LF": b"HTTP/1.1 200 OK\r\nA: 1\nB: 2\r\n\r\nhello",
    "endless head": b"HTTP/1.1 200 OK\r\nA: " + b"x" * 100_000,
}


@pytest.mark.parametrize("case", ODD_ANSWERS)
async def test_an_answer_that_cannot_be_passed_on_is_said_to_be_so(case: str) -> None:
    world = FarEnd(ODD_ANSWERS[case])
    async with far_end(world) as end, lab(world={"files.example": [("127.0.0.1", end.port)]}) as job:
        assert (await job.say(GET + b"\r\n")).startswith(b"HTTP/1.1 502")
        assert (await job.record()).why == "files.example gave no answer that can be passed on."


async def test_interim_answers_are_left_out_and_hop_by_hop_fields_stay_outside() -> None:
    answer = (
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
        b"Content-Length: 9\r\nKeep-Alive: timeout=5\r\nConnection: keep-alive, x-hop\r\nX-Hop: 1\r\nX-Kept: 2\r\n\r\n"
        b"5\r\nhello\r\n0\r\n\r\n"
    )
    async with far_end(FarEnd(answer)) as end, lab(world={"files.example": [("127.0.0.1", end.port)]}) as job:
        assert await job.say(GET + b"\r\n") == (
            b"HTTP/1.1 200 OK\r\nX-Kept: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
            b"5\r\nhello\r\n0\r\n\r\n"
        )


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "169.254.169.254", "127.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fe80::1%lo"]
)
@pytest.mark.parametrize("sent", [GET + b"\r\n", b"CONNECT files.example:443 HTTP/1.1\r\n\r\n"], ids=["get", "tunnel"])
async def test_a_listed_name_that_leads_inside_is_refused(address: str, sent: bytes) -> None:
    async with lab(world={"files.example": [(address, 80)]}, exempt=set()) as job:
        assert (await job.say(sent)).startswith(b"HTTP/1.1 403")
        assert (await job.record()).why.startswith(f"files.example leads to {address}, ")


async def test_of_several_addresses_only_those_in_the_open_are_dialled_and_the_name_is_asked_once() -> None:
    async with far_end(FarEnd()) as end:
        closed, refusing, good = ("10.0.0.1", 80), ("127.0.0.1", 1), ("127.0.0.1", end.port)
        async with lab(world={"files.example": [closed, refusing, good]}, exempt={refusing, good}) as job:
            assert (await job.say(GET + b"\r\n")).endswith(b"hello")
            assert job.asked == ["files.example:80"]


async def test_a_name_without_an_address_and_a_host_that_is_away_are_told_apart() -> None:
    async with lab(world={"b.packages.example": [("127.0.0.1", 1)]}) as job:
        await job.say(b"GET http://a.packages.example/ HTTP/1.1\r\n\r\n")
        await job.say(b"GET http://b.packages.example/ HTTP/1.1\r\n\r\n")
        await job.record(2)
        assert [(one.verdict, one.why) for one in job.records] == [
            ("failed", "a.packages.example has no address."),
            ("failed", "b.packages.example could not be reached."),
        ]


async def test_refusals_beyond_their_cap_are_counted_but_no_longer_recorded() -> None:
    async with lab(caps=EgressCaps(refusals=3)) as job:
        for _ in range(5):
            assert (await job.say(b"GET http://evil.example/ HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 403")
        await job.egress.close()
        assert len(job.records) == 3
        assert job.egress.counts.refused == 5
