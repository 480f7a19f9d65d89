"""Registries under their own names: their TLS is opened, so that reading passes and publishing does not."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import pytest

from midwatch.gateway.egress import RegistryAuthority, RegistryHost
from tests.gateway.egress.conftest import Authority
from tests.gateway.egress.lab import FarEnd, Lab, far_end, lab
from tests.patience import PATIENCE

OURS = RegistryAuthority(b"k" * 32)
HOST = "files.example"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a=b\r\n\r\n5;x=y\r\nhello\r\n0\r\nTrailer: x\r\n\r\n"
)


async def token() -> Mapping[str, str]:
    return {"Authorization": "Bearer s3cret"}


def seen_inside() -> ssl.SSLContext:
    """Trust what programs in a sandbox trust."""
    return ssl.create_default_context(cadata=OURS.pem.decode())


@asynccontextmanager
async def registry(authority: Authority, end: FarEnd) -> AsyncIterator[Lab]:
    async with far_end(end, authority.server()):
        host = RegistryHost("pip", HOST, end.port, folder="/team/", headers=token)
        identity = OURS.identity([HOST], datetime.now(UTC))
        world = {HOST: [("127.0.0.1", end.port)]}
        async with lab([], world=world, registries=(host,), identity=identity, trust=authority.client()) as job:
            yield job


@asynccontextmanager
async def tunnel(job: Lab, port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await job.dial()
    async with asyncio.timeout(PATIENCE):
        writer.write(f"CONNECT {HOST}:{port} HTTP/1.1\r\n\r\n".encode())
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        await writer.start_tls(seen_inside(), server_hostname=HOST)
        yield reader, writer
        writer.close()
        with suppress(ssl.SSLError, OSError):
            await writer.wait_closed()


async def ask(wire: tuple[asyncio.StreamReader, asyncio.StreamWriter], request: bytes) -> bytes:
    reader, writer = wire
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(next((line.split(b":")[1] for line in head.lower().split(b"\r\n") if b"content-length" in line), b"0"))
    return head + (await reader.readuntil(b"0\r\n\r\n") if b"chunked" in head else await reader.readexactly(length))


async def test_the_credential_is_added_below_the_registrys_folder_only_and_one_tunnel_carries_many_requests(
    authority: Authority,
) -> None:
    end = FarEnd(answer=CHUNKED)
    async with registry(authority, end) as job:
        async with tunnel(job, end.port) as wire:
            first = await ask(
                wire, b"GET /team/simple/a/ HTTP/1.1\r\nHost: other.example\r\nAuthorization: own\r\n\r\n"
            )
            await ask(wire, b"GET /api/private HTTP/1.1\r\nHost: files.example\r\n\r\n")
        assert first.endswith(b"5\r\nhello\r\n0\r\n\r\n")
        assert b"Set-Cookie" not in first
        inside, outside = end.heard
        assert inside.startswith(b"GET /team/simple/a/ HTTP/1.1\r\nHost: files.example")
        assert b"Authorization: Bearer s3cret" in inside
        assert b"own" not in inside
        assert b"Authorization" not in outside
        record = await job.record()
        assert (record.verdict, record.rule, len(job.records)) == ("allowed", "pip", 1)
        assert "s3cret" not in repr(job.records)


REFUSED = {
    "publishing": (b"PUT /team/x HTTP/1.1\r\nContent-Length: 0\r\n\r\n", b" 405 "),
    "posting": (b"POST /team/legacy/ HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", b" 405 "),
    "unpublishing": (b"DELETE /team/x HTTP/1.1\r\n\r\n", b" 405 "),
    "a body": (b"GET /team/x HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", b" 400 "),
    "climbing": (b"GET /team/%2e%2e/api HTTP/1.1\r\n\r\n", b" 400 "),
    "another address": (b"GET http://other.example/ HTTP/1.1\r\n\r\n", b" 400 "),
    "a tunnel in the tunnel": (b"CONNECT other.example:443 HTTP/1.1\r\n\r\n", b" 400 "),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_registry_is_for_reading_only(case: str, authority: Authority) -> None:
    request, status = REFUSED[case]
    end = FarEnd()
    async with registry(authority, end) as job:
        async with tunnel(job, end.port) as wire:
            assert status in (await ask(wire, request)).split(b"\r\n")[0]
        assert (await job.record()).verdict == "refused"
        assert not end.heard


async def test_a_registry_that_is_read_by_tls_is_not_read_without(authority: Authority) -> None:
    end = FarEnd()
    async with registry(authority, end) as job:
        heard = await job.say(f"GET http://{HOST}:{end.port}/ HTTP/1.1\r\n\r\n".encode())
        assert b"reads by TLS only" in heard
        assert not end.heard


async def test_after_a_restart_programs_that_still_run_trust_the_same_certificates() -> None:
    """The new one follows from the same key, so an old bundle verifies what a new server shows."""
    again = RegistryAuthority(b"k" * 32)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = again.identity([HOST], datetime.now(UTC)).wrap_bio(incoming, outgoing, server_side=True)
    client = seen_inside().wrap_bio(outgoing, incoming, server_hostname=HOST)
    for side in (client, server, client, server):
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()
    assert client.version()
    assert again.certificate.public_key() == OURS.certificate.public_key() != RegistryAuthority(b"j" * 32).certificate
