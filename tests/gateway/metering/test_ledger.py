"""Money is set aside before a request leaves; at the line nothing more leaves, and one at most goes over it."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from midwatch.errors import Corrupt, Unknown
from midwatch.gateway.metering import MemoryLedger, Refusal, Reservation, ReservationRequest
from midwatch.rules.budget.spending import Amount, Ceilings, CostBounds, Whose
from tests.gateway.metering.lab import FarModel, answer, lab, message

COST = 3 * 1000 + 15 * 2000
"""Micro-USD of 1,000 tokens in and 2,000 out."""


def wish(usd: int, job: str = "a") -> ReservationRequest:
    return ReservationRequest(job, 1, CostBounds(Amount(usd, usd, 1), Amount(usd, usd, 1)))


def ledger(patience: float = 0.05, **limits: int) -> MemoryLedger:
    made = MemoryLedger(patience)
    for job in ("a", "b"):
        made.open(job, {Whose.JOB: job, Whose.RUN: "run"}, {Whose.RUN: Ceilings(**limits)})
    return made


async def reserved(made: MemoryLedger, usd: int, job: str = "a") -> Reservation:
    answer = await made.reserve(wish(usd, job))
    assert isinstance(answer, Reservation)
    return answer


async def test_what_is_set_aside_is_booked_or_comes_back() -> None:
    made = ledger(usd_micros=100)
    first, second = await reserved(made, 60), await reserved(made, 30, "b")
    assert made.budget(Whose.RUN, "run").reserved == Amount(90, 90, 2)
    await made.settle(first, Amount(85, 5, 1))
    await made.release(second)
    budget = made.budget(Whose.RUN, "run")
    assert (budget.spent, budget.reserved) == (Amount(85, 5, 1), Amount())
    assert made.budget(Whose.JOB, "b").spent == Amount()


async def test_who_finds_it_promised_away_waits_for_what_comes_back() -> None:
    made = ledger(patience=10, usd_micros=100)
    first = await reserved(made, 90)
    waiting = asyncio.create_task(reserved(made, 50, "b"))
    await asyncio.sleep(0)
    assert not waiting.done()
    await made.settle(first, Amount(10, 10, 1))
    assert (await waiting).wish.job == "b"


async def test_who_waits_in_vain_is_told_that_it_is_for_now() -> None:
    made = ledger(usd_micros=100)
    first = await reserved(made, 90)
    refusal = await made.reserve(wish(50, "b"))
    assert isinstance(refusal, Refusal)
    assert refusal.for_now
    await made.settle(first, Amount(100, 1, 1))
    spent = await made.reserve(wish(50, "b"))
    assert isinstance(spent, Refusal)
    assert (spent.for_now, spent.whose, spent.kind) == (False, Whose.RUN, "usd_micros")


async def test_nothing_is_booked_twice_and_nobody_spends_without_a_budget() -> None:
    made = ledger()
    first = await reserved(made, 5)
    await made.settle(first, Amount(5, 5, 1))
    with pytest.raises(Corrupt, match="ended twice"):
        await made.settle(first, Amount(5, 5, 1))
    with pytest.raises(Corrupt, match="ended twice"):
        await made.release(first)
    with pytest.raises(Unknown, match="does not know this job"):
        await made.reserve(wish(1, "stranger"))


async def test_a_job_the_ledger_does_not_know_is_answered_and_nothing_leaves() -> None:
    async with lab() as one:
        one.ledger._owners.clear()
        heard = await one.ask()
        assert heard.status == 503
        assert one.far.got == []


async def test_eight_jobs_that_spend_at_once_overshoot_by_one_request_each_at_most(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each job has a ceiling of its own, and all share the run's."""
    jobs, own, shared = 8, 3 * COST + 5, 20 * COST + 5
    ledger = MemoryLedger()
    ceilings = {Whose.JOB: Ceilings(usd_micros=own), Whose.RUN: Ceilings(usd_micros=shared)}
    far = FarModel(answer(message(output=2000, entry=1000)))
    body = {"model": "claude-sonnet-4-5", "max_tokens": 2000}
    async with AsyncExitStack() as stack:
        doors = [
            await stack.enter_async_context(
                lab(FarModel(far.says), ledger=ledger, job=f"job-{number}", ceilings=ceilings)
            )
            for number in range(jobs)
        ]
        asking = [one.ask(body=body) for one in doors for _ in range(6)]
        statuses = [heard.status for heard in await asyncio.gather(*asking)]
        assert set(statuses) == {200, 402}
        run = ledger.budget(Whose.RUN, "run")
        over = [max(0, ledger.budget(Whose.JOB, f"job-{n}").spent.usd_micros - own) for n in range(jobs)]
        assert max(over) <= COST
        assert 0 <= run.spent.usd_micros - shared <= COST
        assert run.spent.usd_micros == statuses.count(200) * COST == sum(len(one.calls) for one in doors) * COST
        assert run.reserved == Amount()
    with capsys.disabled():
        print(
            f"\neight jobs: {statuses.count(200)} requests left, {statuses.count(402)} were refused; run overshot by "
            f"{(run.spent.usd_micros - shared) / COST:.2f} requests, worst job by {max(over) / COST:.2f}"
        )


@pytest.mark.parametrize("whose", [Whose.JOB, Whose.RUN])
async def test_at_the_line_the_job_is_told_whose_line_it_is(whose: Whose) -> None:
    async with lab(ceilings={whose: Ceilings(requests=1)}) as one:
        assert (await one.ask()).status == 200
        refused = await one.ask()
        assert refused.status == 402
        assert refused.json()["error"]["message"] == (
            f"The {whose.value} has used 1 request of 1 request. "
            "No further request is sent until a person raises the ceiling."
        )
        assert len(one.far.got) == 1
