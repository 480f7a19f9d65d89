"""Connections to registries are used again: by the same registry's requests only, and never with what came unasked."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from midwatch.gateway.egress import RegistryHost
from midwatch.gateway.egress.resting import RestingConnections, RestingFor
from midwatch.gateway.egress.wire import Wire
from tests.gateway.egress.conftest import Authority
from tests.gateway.egress.lab import FarEnd, Lab, far_end, lab
from tests.gateway.egress.test_registry_hosts import HOST, OURS, ask, token, tunnel

GET = b"GET /team/a HTTP/1.1\r\n\r\n"
ELSEWHERE = b"GET /other/a HTTP/1.1\r\n\r\n"
Says = Callable[[int, int], bytes | None]
"""What a registry answers, by the number of the connection and of the request on it; None closes it instead."""


@dataclass
class Registry:
    """A registry that keeps its connections open."""

    says: Says
    end: FarEnd = field(default_factory=FarEnd)
    connections: int = 0

    def __post_init__(self) -> None:
        self.end.talk = self._talk

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        mine, requests = self.connections, 0
        while True:
            self.end.hear(await reader.readuntil(b"\r\n\r\n"))
            requests += 1
            answer = self.says(mine, requests)
            if answer is None:
                return
            writer.write(answer)
            await writer.drain()


def whole(connection: int, request: int) -> bytes:
    body = f"{connection}.{request}".encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


@asynccontextmanager
async def reading(registry: Registry, authority: Authority) -> AsyncIterator[Lab]:
    async with far_end(registry.end, authority.server()):
        port = registry.end.port
        hosts = (
            RegistryHost("pip", HOST, port, folder="/team/", headers=token),
            RegistryHost("pip", HOST, port, folder="/other/"),
        )
        identity = OURS.identity([HOST], datetime.now(UTC))
        world = {HOST: [("127.0.0.1", port)]}
        async with lab([], world=world, registries=hosts, identity=identity, trust=authority.client()) as job:
            yield job


async def answers(registry: Registry, authority: Authority, *requests: bytes) -> list[bytes]:
    """Make each request in a tunnel of its own, as clients do that are started one after another."""
    heard = []
    async with reading(registry, authority) as job:
        for request in requests:
            async with tunnel(job, registry.end.port) as wire:
                head = await ask(wire, request)
            heard.append(head.rpartition(b"\r\n\r\n")[2])
    return heard


async def test_one_connection_carries_the_requests_of_many_tunnels_and_ends_with_the_sandbox(
    authority: Authority,
) -> None:
    registry = Registry(whole)
    assert await answers(registry, authority, GET, GET, GET) == [b"1.1", b"1.2", b"1.3"]
    assert registry.end.open == 0
    assert not any(b"Connection: close" in said for said in registry.end.heard)


async def test_a_connection_with_a_registrys_credential_is_not_used_for_another_registry_of_its_host(
    authority: Authority,
) -> None:
    registry = Registry(whole)
    assert await answers(registry, authority, GET, ELSEWHERE, GET, ELSEWHERE) == [b"1.1", b"2.1", b"1.2", b"2.2"]


async def test_a_request_on_a_connection_that_was_closed_meanwhile_is_made_once_more_on_a_new_one(
    authority: Authority,
) -> None:
    registry = Registry(lambda connection, request: whole(connection, request) if request == 1 else None)
    assert await answers(registry, authority, GET, GET) == [b"1.1", b"2.1"]
    assert len(registry.end.heard) == 3


async def test_a_registry_that_never_answers_again_is_asked_once_more_only(authority: Authority) -> None:
    registry = Registry(lambda connection, request: whole(1, 1) if (connection, request) == (1, 1) else None)
    assert (await answers(registry, authority, GET, GET))[1] == b"files.example gave no answer that can be passed on.\n"
    assert len(registry.end.heard) == 3


async def test_an_answer_that_broke_off_is_not_asked_for_again(authority: Authority) -> None:
    part = b"HTTP/1.1 200 OK\r\n"
    registry = Registry(lambda connection, request: whole(connection, request) if request == 1 else part)

    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        registry.connections += 1
        for number in (1, 2):
            registry.end.hear(await reader.readuntil(b"\r\n\r\n"))
            writer.write(registry.says(registry.connections, number) or b"")
            await writer.drain()
        writer.close()

    registry.end.talk = cut
    assert b"no answer" in (await answers(registry, authority, GET, GET))[1]
    assert registry.connections == 1


UNUSABLE: dict[str, Says] = {
    "it says more than was asked": lambda one, two: whole(one, two) + whole(6, 6),
    "it asks to close": lambda one, two: whole(one, two).replace(b"OK\r\n", b"OK\r\nConnection: close\r\n"),
    "it speaks an older version": lambda one, two: whole(one, two).replace(b"1.1 200", b"1.0 200"),
}


@pytest.mark.parametrize("case", UNUSABLE)
async def test_a_connection_is_not_used_again_where(case: str, authority: Authority) -> None:
    assert await answers(Registry(UNUSABLE[case]), authority, GET, GET) == [b"1.1", b"2.1"]


async def test_only_so_many_connections_rest_at_once_and_none_for_long() -> None:
    async def at(port: int) -> Wire:
        return Wire.of(*await asyncio.open_connection("127.0.0.1", port))

    registry = Registry(whole)
    use = RestingFor("pip", HOST, 443, secure=True, folder="/")
    async with far_end(registry.end) as end:
        resting = RestingConnections(most=1)
        older, newer = await at(end.port), await at(end.port)
        resting.put(use, older, "a")
        resting.put(use, newer, "b")
        assert (len(resting), older.writer.is_closing()) == (1, True)
        assert await resting.take(use) == (newer, "b")
        assert await resting.take(use) is None
        newer.cut()
        short = RestingConnections(idle=0)
        short.put(use, await at(end.port), "c")
        await end.is_alone()
        assert not len(short)
