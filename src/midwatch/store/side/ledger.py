"""The ledger in the database: what is set aside for requests under way, beside what the journal says was spent."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from midwatch.errors import Unknown
from midwatch.ports.clock import Ids
from midwatch.rules.budget.provider_quota import YES as FULL
from midwatch.rules.budget.provider_quota import MayBurn
from midwatch.rules.budget.reservation import Held, Refusal, Reservation, ReservationRequest
from midwatch.rules.budget.spending import KINDS, Amount, BudgetUse, Ceilings, Whose, may_spend
from midwatch.store.schema.tables import RECORDS, jobs, leases, reservations
from midwatch.store.writer import DatabaseWriter
from midwatch.terms.records import FuelRow, JobRow, RunRow, SessionRow
from midwatch.terms.term import Term

R = TypeVar("R", bound=Term)

PATIENCE: Final = 120.0
PAUSE: Final = 0.25
"""Between two checks while requests under way, perhaps another server's, hold what is left."""


@dataclass(frozen=True, slots=True)
class Owners:
    """Which budgets pay for a job's requests, and the ceiling of each."""

    job: str
    run: str
    session: str
    ceilings: dict[Whose, Ceilings]
    burn: MayBurn = FULL
    """Whether requests may go to the provider at all."""


@dataclass(frozen=True, slots=True)
class Payers:
    """Whose a request is, according to the records, and what its provider last reported as left."""

    job: JobRow
    run: RunRow
    session: SessionRow
    fuel: tuple[FuelRow, ...]


class SqlLedger:
    """Reservations are rows, spending is what the entries say; one writer at a time sees and changes both.

    A reservation does not wait for the disk: one lost in a power cut was for a request of the dead server.
    """

    def __init__(
        self,
        writer: DatabaseWriter,
        ids: Ids,
        owners: Callable[[Payers], Owners],
        *,
        worker: str,
        patience: float = PATIENCE,
    ) -> None:
        """`owners` says what each budget may spend, and whether requests may go to the provider."""
        self._writer = writer
        self._ids = ids
        self._owners = owners
        self._worker = worker
        self._patience = patience

    async def reserve(self, wish: ReservationRequest) -> Reservation | Refusal:
        until = asyncio.get_running_loop().time() + self._patience
        while True:
            answer = await self._writer.write(lambda tx: self._reserved(tx, wish), lasting=False)
            late = asyncio.get_running_loop().time() >= until
            if isinstance(answer, Reservation) or not answer.for_now or late:
                return answer
            await asyncio.sleep(PAUSE)

    async def settle(self, reservation: Reservation, used: Amount) -> None:
        """Do nothing: the entry of the request books its cost and releases the reservation."""

    async def release(self, reservation: Reservation) -> None:
        mine = reservations.delete().where(reservations.c.id == reservation.id)
        await self._writer.write(lambda tx: tx.execute(mine).rowcount, lasting=False)

    async def held(self) -> tuple[Held, ...]:
        rows = await self._writer.write(lambda tx: tx.execute(sa.select(reservations)).all())
        return tuple(
            Held(row.job, row.run, row.session, Amount(row.usd_micros, row.tokens, row.requests)) for row in rows
        )

    async def forget_the_dead(self) -> int:
        """Release what dead workers had set aside: no process waits for those answers."""
        return await self._writer.write(self._forget)

    def _forget(self, tx: sa.Connection) -> int:
        # On SQLite one server works alone and there are no leases.
        living = sa.select(leases.c.executor)
        others = reservations.c.worker != self._worker
        return tx.execute(reservations.delete().where(others, reservations.c.worker.not_in(living))).rowcount

    def _reserved(self, tx: sa.Connection, wish: ReservationRequest) -> Reservation | Refusal:
        owners = self._owners(_payers(tx, wish))
        if not owners.burn.allowed:
            return Refusal(owners.burn.why, then=_from(owners.burn), until=owners.burn.until)
        judged = may_spend(_budgets(tx, owners), wish.bounds)
        if judged.answer == "wait" and self._forget(tx):  # a worker may have died since this one began
            judged = may_spend(_budgets(tx, owners), wish.bounds)
        if judged.answer != "yes":
            return Refusal(judged.why, judged.whose, judged.kind, for_now=judged.answer == "wait")
        reservation = Reservation(self._ids.new("rsv"), wish, judged.reserve, judged.answers)
        tx.execute(
            reservations.insert().values(
                id=reservation.id,
                worker=self._worker,
                session=owners.session,
                run=owners.run,
                job=owners.job,
                usd_micros=reservation.amount.usd_micros,
                tokens=reservation.amount.tokens,
                requests=reservation.amount.requests,
            )
        )
        return reservation


def _from(burn: MayBurn) -> str:
    return f"No request is sent before {burn.until:%H:%M}." if burn.until else "No request is sent for now."


@cache
def _by(kind: type[Term], column: str) -> sa.Select[Any]:
    """Select the rows of a kind; built once, and run in the transaction that decides, without waiting for a thread."""
    table = RECORDS[kind]
    return sa.select(*(table.c[field] for field in kind.model_fields)).where(table.c[column] == sa.bindparam("it"))


def _payers(tx: sa.Connection, wish: ReservationRequest) -> Payers:
    job = _one(tx, JobRow, wish.job)
    result = tx.execute(_by(FuelRow, "provider"), {"it": wish.provider}).mappings()
    fuel = tuple(FuelRow.model_validate(dict(row)) for row in result)
    return Payers(job, _one(tx, RunRow, job.run), _one(tx, SessionRow, job.session), fuel)


def _one(tx: sa.Connection, kind: type[R], name: str) -> R:
    found = tx.execute(_by(kind, "id"), {"it": name}).mappings().first()
    if found is None:
        raise Unknown(f"There is no budget for {name}.", hint="Look for the job: midwatch job")
    return kind.model_validate(dict(found))


def _sums(table: sa.Table, job: str) -> sa.Select[Any]:
    """Sum a table for each budget in one query, built once: a request waits for it."""
    columns = {Whose.JOB: table.c[job], Whose.RUN: table.c.run, Whose.SESSION: table.c.session}
    mine = [columns[whose] == sa.bindparam(whose.value, type_=sa.Text) for whose in Whose]
    sums = [sa.func.sum(sa.case((own, table.c[kind]), else_=0)) for own in mine for kind in KINDS]
    return sa.select(*sums).where(sa.or_(*mine))


_SPENT: Final = _sums(jobs, "id")
_RESERVED: Final = _sums(reservations, "job")


def _budgets(tx: sa.Connection, owners: Owners) -> list[BudgetUse]:
    spent, reserved = _summed(tx, _SPENT, owners), _summed(tx, _RESERVED, owners)
    return [BudgetUse(whose, owners.ceilings.get(whose, Ceilings()), spent[whose], reserved[whose]) for whose in Whose]


def _summed(tx: sa.Connection, asked: sa.Select[Any], owners: Owners) -> dict[Whose, Amount]:
    found = tx.execute(asked, {whose.value: getattr(owners, whose.value) for whose in Whose}).one()
    counts = [int(value or 0) for value in found]  # PostgreSQL sums big integers into decimals, and nothing into null
    return {whose: Amount(*counts[at * len(KINDS) : (at + 1) * len(KINDS)]) for at, whose in enumerate(Whose)}
