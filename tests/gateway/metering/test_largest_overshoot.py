"""The largest overshoot that remains, as docs/security.md states it: with fifty streams at once, in every dialect."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from midwatch.gateway.metering import PriceList, TokenUsage
from midwatch.rules.budget.spending import Ceilings, Whose
from midwatch.store.schema.engines import is_sqlite
from midwatch.terms.orders import Limits
from tests.gateway.metering.greedy import DIALECTS, DOLLAR, Dialect, GreedyModel, in_its_shape, streaming
from tests.gateway.metering.lab import FarModel, Got, Lab, far_model, lab
from tests.gateway.metering.night import JOBS, Elsewhere, SpendingNight, spending_night
from tests.patience import PATIENCE

STREAMS = 50
ALLOWANCE = 4 * DOLLAR
SHORTEST = 4_096
"""Tokens that the last answer of a budget may always have."""
BESIDE = 2_000
"""Tokens that a provider adds to a request itself."""
TEXT = "~" * 60_000
"""A token for each byte, where ordinary text has one for four."""
LEAVE = "Leave."
each = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


def price(dialect: Dialect, *, input: int = 0, cache_write: int = 0, output: int = 0) -> int:  # noqa: A002 - its name
    used = TokenUsage(input=input, cache_write=cache_write, output=output)
    return PriceList().usd_micros(dialect.provider, dialect.model, used)


def at_most(dialect: Dialect, size: int) -> int:
    """What the input of a body of so many bytes costs at most."""
    tokens = size + BESIDE
    return max(price(dialect, input=tokens), price(dialect, cache_write=tokens))


def overshoot(dialect: Dialect, sizes: Mapping[str, int]) -> int:
    """The formula of docs/security.md; `sizes` are the bytes of the largest request of each job."""
    one = max(at_most(dialect, size) for size in sizes.values()) + price(dialect, output=SHORTEST)
    first = sum(at_most(dialect, size) - price(dialect, input=-(-size // 4)) for size in sizes.values())
    return max(one, first)


def wishes(dialect: Dialect) -> list[dict[str, Any]]:
    """Fifty streams: short and long texts, with and without a limit, and every fifth is left in its thoughts."""
    stream: dict[str, Any] = {} if dialect.streams_at else {"stream": True}
    kinds = [
        dialect.ask("Think."),
        dialect.ask(TEXT),
        dialect.ask("Think.") | in_its_shape(dialect, 30_000),
        dialect.ask(TEXT) | in_its_shape(dialect, 64),
        dialect.ask(LEAVE) | in_its_shape(dialect, 30_000),
    ]
    return [kinds[number % len(kinds)] | stream for number in range(STREAMS)]


class GreedyAndSlow(GreedyModel):
    """Bills the most, and thinks without end where it is asked to be left."""

    async def talk(self, got: Got, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if LEAVE.encode() not in got.body:
            return await super().talk(got, reader, writer)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {}\n\n")
        await writer.drain()
        await reader.read()
        raise ConnectionError


async def stream(url: str, key: str, dialect: Dialect, body: dict[str, Any]) -> int:
    """Ask for a stream as an agent would; one that is to be left is left at its first event."""
    fields = {dialect.provider.key_header: f"{dialect.provider.key_scheme}{key}"}
    leaves = LEAVE in json.dumps(body)
    async with (
        httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client,
        client.stream("POST", f"{url}{streaming(dialect)}", content=json.dumps(body), headers=fields) as heard,
    ):
        async for _ in heard.aiter_bytes():
            if leaves:
                break
        return heard.status_code


def spent(one: Lab) -> int:
    return one.ledger.budget(Whose.JOB, "job").spent.usd_micros


@each
async def test_fifty_streams_of_one_job_book_no_more_than_its_allowance_and_the_stated_overshoot(
    dialect: Dialect,
) -> None:
    ceilings = {Whose.JOB: Ceilings(usd_micros=ALLOWANCE)}
    far = FarModel(talk=GreedyAndSlow(dialect).talk)
    async with lab(far, provider=dialect.provider, ceilings=ceilings) as one:
        url, bodies = f"http://127.0.0.1:{one.port}", wishes(dialect)
        answered = await asyncio.gather(*(stream(url, one.grant.placeholder, dialect, body) for body in bodies))
        assert {*answered} <= {200, 402, 429}
        while 402 not in answered:
            answered = await asyncio.gather(*(stream(url, one.grant.placeholder, dialect, body) for body in bodies))
        await one.call(len(one.far.got))
        largest = max(len(got.body) for got in one.far.got)
        assert ALLOWANCE <= spent(one) <= ALLOWANCE + overshoot(dialect, {"job": largest})
        assert one.ledger.budget(Whose.JOB, "job").reserved.usd_micros == 0


@each
async def test_the_stated_overshoot_is_reached(dialect: Dialect) -> None:
    """It is no larger than it must be: with a millionth of a dollar left, a long text and no limit."""
    body = dialect.ask(TEXT)
    async with lab(GreedyModel(dialect).far, provider=dialect.provider) as one:
        key = one.key_of(dialect.provider)
        assert (await one.ask(dialect.path, dialect.ask("Think."), **key)).status == 200
        ceiling = spent(one) + 1
        one.ledger.open("job", {Whose.JOB: "job"}, {Whose.JOB: Ceilings(usd_micros=ceiling)})
        assert (await one.ask(dialect.path, body, **key)).status == 200
        assert (await one.ask(dialect.path, body, **key)).status == 402
        over, stated = spent(one) - ceiling, overshoot(dialect, {"job": len(one.far.got[-1].body)})
        assert 0.7 * stated < over <= stated


@each
async def test_fifty_streams_of_eight_jobs_over_a_shared_purse_keep_the_same_law(
    dialect: Dialect, database_url: str, tmp_path: Path
) -> None:
    """On PostgreSQL two workers serve four jobs each; all pay from one night."""
    workers = 1 if is_sqlite(database_url) else 2
    limits = Limits(usd=ALLOWANCE / DOLLAR)
    async with far_model(FarModel(talk=GreedyAndSlow(dialect).talk)) as far:
        at = Elsewhere(far.port, dialect.provider.name, dialect.model)
        async with spending_night(database_url, tmp_path, limits, workers=workers, at=at) as night:
            answered = await storm(night, dialect)
            assert {*answered} <= {200, 402, 429}
            while 402 not in answered:
                answered = await storm(night, dialect)
            await night.is_booked()
            booked = sum(job.usd_micros for job in await night.jobs())
            sizes = dict.fromkeys(JOBS, max(len(got.body) for got in far.got))
            assert ALLOWANCE <= booked <= ALLOWANCE + overshoot(dialect, sizes)
            assert night.store.counts("reservations") == (0,)
            assert await night.broken() == []


async def storm(night: SpendingNight, dialect: Dialect) -> list[int]:
    bodies = enumerate(wishes(dialect))
    doors = [night.doors[job] for job in JOBS]
    return await asyncio.gather(*(stream(*doors[number % len(doors)], dialect, body) for number, body in bodies))
