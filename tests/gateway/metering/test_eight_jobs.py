"""Eight jobs of one night spend at once, each through a proxy of its own, over the real ledger on either database."""

import asyncio
from pathlib import Path

import pytest

from midwatch.store.schema.engines import is_sqlite
from midwatch.terms.agents import Tokens
from midwatch.terms.orders import Limits
from tests.agents.model import FOREVER, Say
from tests.gateway.metering.night import JOBS, SpendingNight, spending_night

USED = Tokens(input=1000, output=2000)
COST = 3 * 1000 + 15 * 2000
"""Micro-USD of one request."""
BODY: dict[str, object] = {"model": "claude-sonnet-4-5", "stream": True, "messages": []}
FORESEEN = {**BODY, "max_tokens": 2000, "system": "x" * 4000}
"""As dear as was guessed when it left."""
UNFORESEEN = {**BODY, "max_tokens": 1}
"""Three hundred times as dear: this provider makes more than the request allows."""


async def spend(night: SpendingNight, job: str, body: dict[str, object]) -> list[int]:
    """Ask one after the other until the line."""
    statuses = []
    while 402 not in statuses:
        answer = await night.ask(job, body)
        statuses.append(answer.status_code)
        if answer.status_code == 402:
            assert "The session has used" in answer.json()["error"]["message"]
    return statuses


@pytest.mark.parametrize(
    ("body", "most", "requests"),
    [(FORESEEN, 1, 12.5), (UNFORESEEN, 8, 12.5), (FORESEEN, 0, 12)],
    ids=["foreseen", "unforeseen", "to the cent"],
)
async def test_eight_jobs_spending_at_once_overshoot_by_the_requests_in_flight_at_most(
    database_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    body: dict[str, object],
    most: int,
    requests: float,
) -> None:
    ceiling = round(COST * requests)
    limits = Limits(usd=ceiling / 1_000_000)
    kind, workers = ("SQLite", 1) if is_sqlite(database_url) else ("PostgreSQL", 2)
    async with spending_night(database_url, tmp_path, limits, workers=workers) as night:
        for job in JOBS:
            say = Say("I think about it.", usage=USED, times=FOREVER, hold=1)
            night.model.play(job, say, every=True)
        spending = [asyncio.create_task(spend(night, job, body)) for job in JOBS]
        for job in JOBS:
            await night.model.asked(job)
        for job in JOBS:
            night.model.release(job)
        statuses = [status for one in spending for status in await one]
        spent = sum(job.usd_micros for job in await night.jobs())
        over = spent - ceiling
        assert set(statuses) == {200, 402}
        assert spent == statuses.count(200) * COST == len(night.model.requests()) * COST
        assert 0 <= over <= most * COST
        assert night.store.counts("reservations") == (0,)
        assert await night.broken() == []
    with capsys.disabled():
        print(
            f"\n{kind}, {workers} worker(s), eight jobs at once: ceiling {ceiling} micro-USD, spent {spent}, "
            f"overshoot {over} = {over / COST:.2f} requests of {COST} (bar {most}); "
            f"{statuses.count(200)} left, {statuses.count(402)} were refused",
            end="",
        )


async def test_a_ledger_that_does_not_look_is_told_by_the_invariant(database_url: str, tmp_path: Path) -> None:
    """The witness: without ceilings in force the same night passes its line by far more than what is in flight."""
    limits = Limits(usd=COST / 1_000_000)
    async with spending_night(database_url, tmp_path, limits, blind=True) as night:
        for job in JOBS[:2]:
            night.model.play(job, Say("Gladly.", usage=USED, times=FOREVER), every=True)
            for _ in range(2):
                assert (await night.ask(job, FORESEEN)).status_code == 200
                assert await night.broken() == [] or job == JOBS[1]
        assert await night.broken() == [
            "Night 1 has spent or set aside $0.13 of $0.03, more than one request of each job over"
        ]
