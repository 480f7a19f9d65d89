"""The ledger in the database: set aside before it leaves, booked by its entry, overshot by one request at most (X1)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from midwatch.journal.events.crew import ModelCalled
from midwatch.journal.events.jobs import RunStarted
from midwatch.rules.budget.reservation import Refusal, Reservation, ReservationRequest
from midwatch.rules.budget.spending import Amount, Ceilings, CostBounds, Whose
from midwatch.store.ids import Ulids
from midwatch.store.schema.tables import leases
from midwatch.store.side.ledger import Owners, Payers, SqlLedger
from midwatch.store.writer import DatabaseWriter
from midwatch.terms.agents import Tokens
from midwatch.terms.records import JobRow
from tests.store import scenes
from tests.store.opened import Store
from tests.store.scenes import UNDER_WAY

CEILING = 1_000_000


@pytest.fixture
async def ledger(store: Store) -> AsyncIterator[SqlLedger]:
    run = scenes.of(RunStarted, run="run_1", session=scenes.NIGHT, project="prj_1")
    await store.journal.record(*UNDER_WAY, run, scenes.job())
    writer = DatabaseWriter(store.url)
    yield SqlLedger(writer, Ulids(store.clock), owners, worker="w1", patience=0.6)
    await writer.close()


def owners(payers: Payers) -> Owners:
    return Owners(payers.job.id, "run_1", "ses_1", {Whose.JOB: Ceilings(usd_micros=CEILING)})


def wish(usd: int) -> ReservationRequest:
    return ReservationRequest("job_1", 1, CostBounds(Amount(usd, 100, 1), Amount(usd, 100, 1)))


async def paid(store: Store, reservation: Reservation, usd: int) -> None:
    """Write the entry that books a request."""
    tokens = Tokens(input=60, output=40)
    await store.journal.record(
        ModelCalled(
            reservation=reservation.id,
            job="job_1",
            epoch=1,
            provider="anthropic",
            model="m",
            api="messages",
            status=200,
            tokens=tokens,
            usd_micros=usd,
        )
    )


async def test_what_is_spent_is_what_the_entries_say(store: Store, ledger: SqlLedger) -> None:
    reservation = await ledger.reserve(wish(400_000))
    assert isinstance(reservation, Reservation)
    await paid(store, reservation, 250_000)
    row = await store.records.get(JobRow, "job_1")
    assert (row.usd_micros, row.tokens, row.requests) == (250_000, 100, 1)
    store_again = await ledger.reserve(wish(700_000))
    assert isinstance(store_again, Reservation), "what was set aside for the first came back with its entry"


async def test_a_spent_ceiling_refuses_with_a_sentence(store: Store, ledger: SqlLedger) -> None:
    reservation = await ledger.reserve(wish(10))
    assert isinstance(reservation, Reservation)
    await paid(store, reservation, CEILING)
    refusal = await ledger.reserve(wish(10))
    assert isinstance(refusal, Refusal)
    assert (refusal.whose, refusal.kind, refusal.for_now) == (Whose.JOB, "usd_micros", False)
    assert refusal.why == "The job has used $1 of $1."


async def test_what_is_only_promised_makes_the_next_one_wait_until_it_comes_back(ledger: SqlLedger) -> None:
    first = await ledger.reserve(wish(900_000))
    assert isinstance(first, Reservation)
    waiting = await ledger.reserve(wish(200_000))
    assert isinstance(waiting, Refusal)
    assert waiting.for_now
    await ledger.release(first)
    assert isinstance(await ledger.reserve(wish(200_000)), Reservation)


async def test_eight_at_once_overshoot_by_one_request_at_most(store: Store, ledger: SqlLedger) -> None:
    """X1: whoever asks at the same moment, one writer decides after the other."""

    async def spend() -> int:
        spent = 0
        while isinstance(got := await ledger.reserve(wish(150_000)), Reservation):
            await paid(store, got, 150_000)
            spent += 1
        return spent

    done = await asyncio.gather(*(spend() for _ in range(8)))
    row = await store.records.get(JobRow, "job_1")
    assert row.usd_micros == sum(done) * 150_000
    assert CEILING <= row.usd_micros < CEILING + 150_000


@asynccontextmanager
async def another(store: Store, worker: str) -> AsyncIterator[SqlLedger]:
    """Open the ledger as another worker does."""
    writer = DatabaseWriter(store.url)
    try:
        yield SqlLedger(writer, Ulids(store.clock), owners, worker=worker, patience=0.1)
    finally:
        await writer.close()


async def test_what_a_dead_server_had_set_aside_comes_back(store: Store, ledger: SqlLedger) -> None:
    async with another(store, "w2") as other:
        assert isinstance(await other.reserve(wish(900_000)), Reservation)
    assert isinstance(await ledger.reserve(wish(50_000)), Reservation)
    assert await ledger.forget_the_dead() == 1
    assert store.counts("reservations") == (1,), "its own stays"


async def test_a_worker_that_holds_its_lease_is_not_dead(store: Store, ledger: SqlLedger) -> None:
    """On PostgreSQL several work at once; a lease that nobody beats any more is taken away by the others."""
    with store.behind() as tx:
        tx.execute(leases.insert().values(executor="w2", beat=store.clock.now()))
    async with another(store, "w2") as other:
        assert isinstance(await other.reserve(wish(900_000)), Reservation)
    assert await ledger.forget_the_dead() == 0
    assert isinstance(await ledger.reserve(wish(200_000)), Refusal), "it may still be spent"
    with store.behind() as tx:
        tx.execute(leases.delete())
    assert isinstance(await ledger.reserve(wish(200_000)), Reservation), "found dead by whoever had to wait"
    assert store.counts("reservations") == (1,)
