"""A house that opens takes up the money where another left it, and leaves nothing open when it closes."""

from pathlib import Path

import sqlalchemy as sa

from midwatch.compose.house import House
from midwatch.compose.opening import open_house
from midwatch.gateway.metering import ProxyTimeouts
from midwatch.gateway.metering.upstream import OutgoingRequest, SendProgress
from midwatch.store.schema.tables import reservations
from midwatch.surfaces.queries.audit import violations
from tests.gateway.metering.lab import FarModel, far_model


def set_aside(tx: sa.Connection, worker: str) -> None:
    held = {"session": "ses_1", "run": "run_1", "job": "job_1", "usd_micros": 5, "tokens": 5, "requests": 1}
    tx.execute(reservations.insert().values(id=f"rsv_{worker}", worker=worker, **held))


async def workers(house: House) -> list[str]:
    return await house.writer.write(lambda tx: list(tx.execute(sa.select(reservations.c.worker)).scalars()))


async def test_what_a_killed_server_had_set_aside_comes_back_when_the_house_opens(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.writer.write(lambda tx: set_aside(tx, "gone"))
        assert await workers(house) == ["gone"]
        assert [one.job for one in await house.doors.ledger.held()] == ["job_1"]
        assert await violations(house) == ()
    async with open_house(tmp_path) as house:
        assert await workers(house) == []


async def test_a_house_that_closes_hangs_up_on_the_providers(tmp_path: Path) -> None:
    async with far_model(FarModel()) as far:
        async with open_house(tmp_path) as house:
            leaving = OutgoingRequest("POST", f"http://127.0.0.1:{far.port}/v1/messages", (), b"{}")
            async with house.doors.upstream.answer(leaving, ProxyTimeouts(), SendProgress()) as response:
                await response.aread()
            assert far.open == 1, "kept for the next request"
        await far.is_alone()
