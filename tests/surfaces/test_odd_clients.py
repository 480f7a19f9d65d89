"""The server under clients that are slow, odd or very many, over real sockets on this machine."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from midwatch.surfaces import connections
from midwatch.surfaces.connections import CountedConnection, PatientConnection
from midwatch.surfaces.pages_port import open_port
from midwatch.surfaces.server import QuietServer, _server

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _answers(_: Scope, receive: Receive, send: Send) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextlib.asynccontextmanager
async def served(kind: type[PatientConnection], listening: socket.socket) -> AsyncIterator[QuietServer]:
    server = _server(_answers, kind)
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield server
    finally:
        server.leave()
        await task


@pytest.fixture
async def port() -> AsyncIterator[int]:
    with open_port("127.0.0.1", 0) as listening:
        async with served(CountedConnection, listening):
            yield listening.getsockname()[1]


async def said(port: int, request: bytes) -> bytes:
    """Send it, and read until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    return answer


async def left(connection: Connection) -> bool:
    """Wait until the server ends the connection, with nothing said."""
    answer = b""
    with contextlib.suppress(ConnectionResetError):
        answer = await connection[0].read()
    connection[1].close()
    return answer == b""


@pytest.mark.parametrize(
    "half",
    [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: x\r\n", b"GET / HTTP/1.1\r\nhost: x\r\n\r\nGET /again HTTP/1.1\r\n"],
    ids=["nothing", "a_word", "headers_without_end", "a_second_request"],
)
async def test_a_request_whose_head_never_ends_is_left(port: int, half: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_WITHIN", 0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(half)
    with contextlib.suppress(ConnectionResetError):
        answer = await reader.read()
        assert answer.count(b"HTTP/1.1 200") == half.count(b"\r\n\r\n")
    writer.close()


async def test_a_body_that_never_ends_is_left(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BODY_WITHIN", 0.2)
    connection = await asyncio.open_connection("127.0.0.1", port)
    connection[1].write(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf")
    assert await left(connection)


async def test_one_address_has_only_so_many_connections(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_OF_ONE_ADDRESS", 20)
    held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
    for _, writer in held:
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    for reader, _ in held:
        assert b" 200 " in await reader.readline()
    assert await left(await asyncio.open_connection("127.0.0.1", port))
    for _, writer in held:
        writer.close()
        await writer.wait_closed()
    while connections.OPEN:  # noqa: ASYNC110  the server notices each end on its own
        await asyncio.sleep(0)
    assert b" 200 " in await said(port, b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")


async def test_the_owners_socket_answers_while_the_pages_are_full(
    port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_AT_ONCE", 5)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        async with served(PatientConnection, listening) as server:
            held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(9)]
            while not server.started:  # noqa: ASYNC110  uvicorn has no event for it
                await asyncio.sleep(0)
            reader, writer = await asyncio.open_unix_connection(str(tmp_path / "s"))
            writer.write(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            assert b" 200 " in await reader.read()
            for _, one in (*held, (reader, writer)):
                one.close()


@pytest.mark.parametrize("order", [1, -1])
async def test_a_request_with_a_length_and_chunks_gets_one_answer(port: int, order: int) -> None:
    framing = [b"content-length: 4", b"transfer-encoding: chunked"][::order]
    hidden = b"GET /hidden HTTP/1.1\r\nhost: x\r\n\r\n"
    request = b"POST / HTTP/1.1\r\nhost: x\r\n" + b"\r\n".join(framing) + b"\r\n\r\n0\r\n\r\n" + hidden
    answer = await said(port, request)
    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") == 1


async def test_an_address_of_five_thousand_characters_is_refused(port: int) -> None:
    answer = await said(port, b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\nhost: x\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400")
