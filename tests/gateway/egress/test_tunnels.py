"""Tunnels: TLS to exactly the host on the list, however the hello is cut up, and nothing else."""

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import replace

import pytest

from midwatch.gateway.egress.tls import ACCESS_DENIED
from midwatch.gateway.egress.tunnel import OPEN
from tests.gateway.egress.conftest import Authority
from tests.gateway.egress.lab import (
    QUICK,
    FarEnd,
    Lab,
    client_hello,
    far_end,
    in_records,
    lab,
    real_hello,
    server_name,
)

CONNECT = b"CONNECT files.example:443 HTTP/1.1\r\nHost: files.example:443\r\n\r\n"
SERVER_HELLO = b"\x16\x03\x03\x00\x4a\x02\x00\x00\x46\x03\x03" + bytes(32) + bytes(40)
RETRY = SERVER_HELLO.replace(
    bytes(32), bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c"), 1
)
GOOD = client_hello("files.example")
EVIL = in_records(client_hello("evil.example"))
GREASE = [(0x0A0A, b""), (0x3A3A, b"\x00")]


def listening(first: bytes = SERVER_HELLO) -> FarEnd:
    """Answer the first flight with the given bytes, then keep all that comes."""
    end = FarEnd()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard = b""
        while data := await reader.read(65536):
            if not heard:
                writer.write(first)
            heard += data
            end.heard[:] = [heard]

    end.talk = talk
    return end


HONEST: dict[str, Sequence[bytes]] = {
    "in one piece": [in_records(GOOD)],
    "in upper case": [in_records(client_hello("FILES.example"))],
    "in many segments": [bytes([one]) for one in in_records(GOOD)],
    "in several records": [in_records(GOOD, 7)],
    "in several records and segments": [bytes([one]) for one in in_records(GOOD, 5)],
    "with grease": [in_records(client_hello("files.example", extensions=GREASE))],
    "from OpenSSL": [real_hello("files.example")],
    "with early data behind it": [in_records(GOOD) + b"\x17\x03\x03\x00\x01x"],
}


@pytest.mark.parametrize("case", HONEST)
async def test_an_honest_hello_passes_byte_for_byte(case: str) -> None:
    async with far_end(listening()) as end, lab(world={"files.example": [("127.0.0.1", end.port)]}) as job:
        reader, writer = await job.dial()
        writer.write(CONNECT)
        assert await reader.readexactly(len(OPEN)) == OPEN
        for part in HONEST[case]:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)
        assert await reader.readexactly(len(SERVER_HELLO)) == SERVER_HELLO
        writer.write(b"more")
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
        assert end.heard == [b"".join(HONEST[case]) + b"more"]
        record = await job.record()
        assert record.verdict == "allowed"
        assert (record.bytes_out, record.bytes_in) == (len(end.heard[0]), len(SERVER_HELLO))


DISHONEST: dict[str, tuple[bytes, str]] = {
    "another name": (EVIL, "asked for evil.example inside"),
    "another name in several records": (in_records(client_hello("evil.example"), 7), "asked for evil.example"),
    "a name below": (in_records(client_hello("a.files.example")), "asked for a.files.example"),
    "a dot at the end": (in_records(client_hello("files.example.")), "asked for files.example."),
    "no name": (in_records(client_hello(extensions=GREASE)), "names no host"),
    "no name from OpenSSL": (real_hello(None), "names no host"),
    "two names": (in_records(client_hello("files.example", "evil.example")), "two hosts"),
    "the same name twice": (in_records(client_hello("files.example", "files.example")), "two hosts"),
    "two fields of names": (
        in_records(client_hello("files.example", extensions=[server_name("evil.example")])), "two hosts",
    ),
    "a name of another kind": (in_records(client_hello(extensions=[server_name("files.example", kind=1)])), "malf"),
    "an empty name": (in_records(client_hello("")), "malformed"),
    "a NUL in the name": (in_records(client_hello("files.example\0.evil.example")), "asked for"),
    "a non-ASCII name": (in_records(client_hello("f\u0456les.example")), "malformed"),
    "ECH with the outer name of another": (
        in_records(client_hello("outer.example", extensions=[(0xFE0D, b"\x00" * 9)])), "hides its real host",
    ),
    "ECH behind the right name": (
        in_records(client_hello("files.example", extensions=[(0xFE0D, b"\x00" * 9)])), "hides its real host",
    ),
    "plain http": (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "not TLS"),
    "ssh": (b"SSH-2.0-OpenSSH_9.2\r\n", "not TLS"),
    "SSL 2": (b"\x80\x2e\x01\x03\x01" + bytes(44), "not TLS"),
    "application data first": (b"\x17\x03\x03\x00\x05hello", "not TLS"),
    "a server's hello": (SERVER_HELLO, "does not begin with a hello"),
    "an empty record": (b"\x16\x03\x01\x00\x00" + in_records(GOOD), "malformed"),
    "a huge record": (b"\x16\x03\x01\xff\xff" + GOOD, "malformed"),
    "a huge hello": (in_records(b"\x01\xff\xff\xff" + bytes(100)), "malformed"),
    "hundreds of records": (in_records(GOOD + bytes(300), 1), "malformed"),
    "a second hello in the same record": (in_records(GOOD + client_hello("evil.example")), "malformed"),
    "bytes behind the extensions": (in_records(b"\x01" + (len(GOOD) - 3).to_bytes(3, "big") + GOOD[4:] + b"x"), "malf"),
}  # fmt: skip


@pytest.mark.parametrize("case", DISHONEST)
async def test_a_dishonest_hello_never_reaches_the_far_end(case: str) -> None:
    sent, why = DISHONEST[case]
    async with far_end(listening()) as end, lab(world={"files.example": [("127.0.0.1", end.port)]}) as job:
        assert await job.say(CONNECT + sent) == OPEN + ACCESS_DENIED
        record = await job.record()
        assert record.verdict == "refused"
        assert why in record.why
        assert record.bytes_out == 0
        assert not end.heard


@pytest.mark.parametrize("at_once", [True, False], ids=["before it was asked", "when it was asked"])
@pytest.mark.parametrize("compatible", [b"", b"\x14\x03\x03\x00\x01\x01"], ids=["bare", "after a cipher change"])
async def test_a_second_hello_may_not_change_the_name(at_once: bool, compatible: bytes) -> None:
    async with far_end(listening(RETRY)) as end, lab(world={"files.example": [("127.0.0.1", end.port)]}) as job:
        reader, writer = await job.dial()
        first = in_records(GOOD)
        writer.write(CONNECT + first + (compatible + EVIL if at_once else b""))
        await reader.readexactly(len(OPEN + RETRY))
        if not at_once:
            writer.write(compatible + EVIL)
        assert await reader.read() == ACCESS_DENIED
        writer.close()
        assert (await job.record()).why == "The tunnel to files.example asked for evil.example inside."
        assert end.heard == [first]


async def test_a_second_hello_of_openssl_passes(authority: Authority) -> None:
    """A server that wants another curve than the client guessed asks for a second hello."""
    server = authority.server()
    server.set_ecdh_curve("secp384r1")
    assert await greeting(authority, server) == b"hello"


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_both_versions_of_tls_pass(authority: Authority, version: ssl.TLSVersion) -> None:
    server = authority.server()
    server.minimum_version = server.maximum_version = version
    assert await greeting(authority, server) == b"hello"


async def greeting(authority: Authority, server: ssl.SSLContext) -> bytes:
    """Speak TLS through the proxy, and give the body of the answer."""
    async with (
        far_end(FarEnd(), server) as end,
        lab(world={"files.example": [("127.0.0.1", end.port)]}) as job,
    ):
        reader, writer = await job.dial()
        writer.write(CONNECT)
        await reader.readexactly(len(OPEN))
        await writer.start_tls(authority.client(), server_hostname="files.example")
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        heard = await reader.readuntil(b"hello")
        writer.close()
        assert (await job.record()).verdict == "allowed"
        return heard[-5:]


async def test_a_hello_that_drips_for_ever_meets_a_deadline() -> None:
    async with (
        far_end(listening()) as end,
        lab(world={"files.example": [("127.0.0.1", end.port)]}, deadlines=replace(QUICK, hello=0.5)) as job,
    ):
        reader, writer = await job.dial()
        writer.write(CONNECT + b"\x16\x03\x01\x3f\xff\x01\x00\x3f\x00")
        while not job.records:
            writer.write(b"\x03")
            await asyncio.sleep(0.05)
        assert await reader.read() == OPEN + ACCESS_DENIED
        writer.close()
        assert job.records[0].why == "The tunnel to files.example did not begin TLS in time."


async def test_a_quiet_tunnel_is_cut_and_a_busy_one_is_not() -> None:
    async with (
        far_end(listening()) as end,
        lab(world={"files.example": [("127.0.0.1", end.port)]}, deadlines=replace(QUICK, idle=1.5)) as job,
    ):
        reader, writer = await job.dial()
        writer.write(CONNECT + in_records(GOOD))
        for _ in range(25):
            writer.write(b"x")
            await asyncio.sleep(0.1)
        assert not job.records
        assert await reader.read() == OPEN + SERVER_HELLO
        writer.close()
        record = await job.record()
        assert (record.verdict, record.why) == ("cut", "Nothing moved for 1.5 seconds.")
        assert record.bytes_out == len(in_records(GOOD)) + 25


async def open_tunnel(job: Lab) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await job.dial()
    writer.write(CONNECT + in_records(GOOD))
    await reader.readexactly(len(OPEN + SERVER_HELLO))
    return reader, writer


async def test_a_hundred_tunnels_at_once_and_closing_ends_them_all() -> None:
    async with far_end(listening()) as end, lab(world={"files.example": [("127.0.0.1", end.port)]}) as job:
        tunnels = await asyncio.gather(*(open_tunnel(job) for _ in range(100)))
        assert job.egress.counts.open == 100
        waiting = asyncio.create_task(open_tunnel(job))
        tunnels[0][1].close()
        tunnels[0] = await waiting
        await job.egress.close()
        assert job.egress.counts.open == 0
        assert len(job.records) == 101
        assert sum(one.why == "The network of this job was closed." for one in job.records) == 100
        for reader, writer in tunnels:
            assert await reader.read() == b""
            writer.close()
