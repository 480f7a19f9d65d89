"""Caps: never one byte or one request more than the contract says, over all connections together."""

import asyncio
import socket
from dataclasses import replace

import pytest

from midwatch.errors import Exhausted
from midwatch.gateway.egress import ConnectionRecord, EgressCaps, EgressPolicy, EgressProxy
from midwatch.gateway.egress.tunnel import OPEN
from tests.gateway.egress.lab import QUICK, FarEnd, far_end, in_records, lab
from tests.gateway.egress.test_tunnels import CONNECT, GOOD, SERVER_HELLO, listening, open_tunnel

GET = b"GET http://files.example/ HTTP/1.1\r\n\r\n"
SPENT = {
    "in": "This job has fetched all the 100000 bytes it may fetch.",
    "out": "This job has sent all the 100000 bytes it may send.",
}


async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"x" * 50_000)
        await writer.drain()


async def test_a_job_fetches_exactly_its_cap_and_sees_that_it_was_cut() -> None:
    async with (
        far_end(FarEnd(talk=flood)) as end,
        lab(world={"files.example": [("127.0.0.1", end.port)]}, caps=EgressCaps(bytes_in=100_000)) as job,
    ):
        reader, writer = await job.dial()
        writer.write(GET)
        with pytest.raises(ConnectionResetError):
            await reader.readexactly(100_001)
        writer.close()
        record = await job.record()
        assert (record.verdict, record.why, record.bytes_in) == ("cut", SPENT["in"], 100_000)
        assert (await job.say(GET)).startswith(b"HTTP/1.1 403")
        assert (await job.record(2)).why == SPENT["in"]


@pytest.mark.parametrize("tunnels", [1, 7])
async def test_a_job_sends_exactly_its_cap_over_all_its_tunnels(tunnels: int) -> None:
    heard = [0]

    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(SERVER_HELLO)
        while data := await reader.read(65536):
            heard[0] += len(data)

    async with (
        far_end(FarEnd(talk=count)) as end,
        lab(world={"files.example": [("127.0.0.1", end.port)]}, caps=EgressCaps(bytes_out=100_000)) as job,
    ):
        opened = [await open_tunnel(job) for _ in range(tunnels)]
        for _, writer in opened:
            writer.write(b"x" * 300_000)
        await job.record(tunnels)
        await end.is_alone()
        for _, writer in opened:
            writer.close()
        assert heard == [100_000]
        assert sum(record.bytes_out for record in job.records) == job.egress.counts.bytes_out == 100_000
        assert {(record.verdict, record.why) for record in job.records} == {("cut", SPENT["out"])}


@pytest.mark.parametrize("framing", [b"Content-Length: 500000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n7A120\r\n"])
async def test_a_body_beyond_the_cap_never_arrives_whole(framing: bytes) -> None:
    async def swallow(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        end.hear(await reader.read())

    async with (
        far_end(FarEnd(talk=swallow)) as end,
        lab(world={"files.example": [("127.0.0.1", end.port)]}, caps=EgressCaps(bytes_out=100_000)) as job,
    ):
        await job.say(b"POST http://files.example/ HTTP/1.1\r\n" + framing + b"x" * 500_000)
        record = await job.record()
        assert (record.verdict, record.why, record.bytes_out) == ("cut", SPENT["out"], 100_000)
        assert len(await end.has_heard()) <= 100_000


async def test_a_job_has_so_many_requests_and_refusals_do_not_use_them_up() -> None:
    async with (
        far_end(FarEnd()) as end,
        lab(world={"files.example": [("127.0.0.1", end.port)]}, caps=EgressCaps(requests=2)) as job,
    ):
        hosts = (b"files", b"evil", b"files", b"files")
        answers = [(await job.say(GET.replace(b"files", host)))[:12] for host in hosts]
        await job.record(4)
        assert answers == [b"HTTP/1.1 200", b"HTTP/1.1 403", b"HTTP/1.1 200", b"HTTP/1.1 403"]
        assert job.records[-1].why == "This job has used all its 2 requests."
        assert (job.egress.counts.requests, job.egress.counts.refused) == (2, 2)
        assert len(end.heard) == 2


async def test_a_job_that_does_not_read_is_not_read_ahead_of() -> None:
    """What waits for the job waits with the far end, not in our memory."""
    async with (
        far_end(FarEnd(talk=flood)) as end,
        lab(world={"files.example": [("127.0.0.1", end.port)]}, deadlines=replace(QUICK, idle=2)) as job,
    ):
        with socket.create_connection(("127.0.0.1", job.port)) as deaf:
            deaf.sendall(GET)
            record = await job.record()
        assert (record.verdict, record.why) == ("cut", "Nothing moved for 2 seconds.")
        assert record.bytes_in < 30_000_000  # what the system itself keeps for both sockets


async def test_one_connection_may_not_last_for_ever() -> None:
    async with (
        far_end(listening()) as end,
        lab(world={"files.example": [("127.0.0.1", end.port)]}, deadlines=replace(QUICK, whole=1.5)) as job,
    ):
        reader, writer = await job.dial()
        writer.write(CONNECT + in_records(GOOD))
        await reader.readexactly(len(OPEN + SERVER_HELLO))
        while not job.records:
            writer.write(b"x")
            await asyncio.sleep(0.05)
        writer.close()
        assert job.records[0].why == "A connection may last at most 1.5 seconds."


async def test_more_connections_than_may_be_open_wait_for_their_turn() -> None:
    async with (
        far_end(listening()) as end,
        lab(world={"files.example": [("127.0.0.1", end.port)]}, caps=EgressCaps(at_once=2)) as job,
    ):
        opened = [await open_tunnel(job) for _ in range(2)]
        third = asyncio.create_task(open_tunnel(job))
        await asyncio.sleep(0.05)
        assert not third.done()
        opened[0][1].close()
        opened.append(await third)
        assert job.egress.counts.open <= 2
        for _, writer in opened:
            writer.close()


async def test_a_closed_proxy_serves_no_more() -> None:
    async with lab() as job:
        await job.say(GET)
        await job.egress.close()
        with pytest.raises(ConnectionRefusedError):
            await job.dial()
        late = socket.create_server(("127.0.0.1", 0))
        await job.egress.serve(late)
        assert late.fileno() == -1


async def test_two_listeners_share_one_set_of_counts() -> None:
    async with far_end(FarEnd()) as end, lab(
        world={"files.example": [("127.0.0.1", end.port)]}, caps=EgressCaps(requests=1)
    ) as job:  # fmt: skip
        second = socket.create_server(("127.0.0.1", 0))
        other = replace(job, port=second.getsockname()[1])
        serving = asyncio.create_task(job.egress.serve(second))
        assert (await job.say(GET)).startswith(b"HTTP/1.1 200")
        assert (await other.say(GET)).startswith(b"HTTP/1.1 403")
        await job.egress.close()
        await serving


async def test_a_record_that_cannot_be_written_ends_the_serving() -> None:
    def full(_: ConnectionRecord) -> None:
        raise Exhausted("the disk is full")

    egress = EgressProxy(EgressPolicy(), full)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    serving = asyncio.create_task(egress.serve(listener))
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(GET)
    writer.close()
    with pytest.raises(ExceptionGroup) as failed:
        await serving
    assert failed.group_contains(Exhausted)
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
    await egress.close()
