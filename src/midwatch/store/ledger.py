"""The ledger in the database: what is set aside for requests under way, beside what the journal says was spent."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from midwatch.rules.fuel import YES as FULL
from midwatch.rules.fuel import MayBurn
from midwatch.rules.reserving import Held, Refusal, Reservation, Wish
from midwatch.rules.spending import Amount, Ceilings, Crossing, Purse, Whose, crossings, may_spend
from midwatch.store.pen import Pen
from midwatch.store.tables import jobs, leases, reservations
from midwatch.terms.roles import Ids

PATIENCE: Final = 120.0
PAUSE: Final = 0.25
"""Between two looks while requests under way, perhaps another server's, hold what is left."""


@dataclass(frozen=True, slots=True)
class Owners:
    """Whose purses a job's requests are paid from, and what each may hold at most."""

    job: str
    run: str
    session: str
    ceilings: dict[Whose, Ceilings]
    burn: MayBurn = FULL
    """Whether the provider may be drawn on at all."""


class SqlLedger:
    """Reservations are rows, spending is what the entries say; one writer at a time sees and changes both."""

    def __init__(
        self,
        pen: Pen,
        ids: Ids,
        owners: Callable[[Wish], Awaitable[Owners]],
        *,
        worker: str,
        patience: float = PATIENCE,
    ) -> None:
        """`owners` tells whose purses a request is paid from, and whether its provider may be asked."""
        self._pen = pen
        self._ids = ids
        self._owners = owners
        self._worker = worker
        self._patience = patience

    async def reserve(self, wish: Wish) -> Reservation | Refusal:
        """Set aside what is wanted, waiting a while for what others may give back; or refuse."""
        owners = await self._owners(wish)
        if not owners.burn.allowed:
            return Refusal(owners.burn.why, then=_from(owners.burn), until=owners.burn.until)
        until = asyncio.get_running_loop().time() + self._patience
        while True:
            answer = await self._pen.write(lambda tx: self._reserved(tx, owners, wish))
            late = asyncio.get_running_loop().time() >= until
            if isinstance(answer, Reservation) or not answer.for_now or late:
                return answer
            await asyncio.sleep(PAUSE)

    async def settle(self, reservation: Reservation, used: Amount) -> tuple[Crossing, ...]:
        """Tell which marks this request reaches; its entry books it and gives back what was set aside."""
        owners = await self._owners(reservation.wish)

        def reached(tx: sa.Connection) -> tuple[Crossing, ...]:
            before = _purses(tx, owners)
            after = [Purse(one.whose, one.ceilings, one.spent + used, one.reserved) for one in before]
            pairs = zip(before, after, strict=True)
            return tuple(found for old, new in pairs for found in crossings(old, new))

        return await self._pen.write(reached)

    async def release(self, reservation: Reservation) -> None:
        """Give back what was set aside for a request that never left."""
        mine = reservations.delete().where(reservations.c.id == reservation.id)
        await self._pen.write(lambda tx: tx.execute(mine).rowcount)

    async def held(self) -> tuple[Held, ...]:
        """Show what is set aside for requests under way."""
        rows = await self._pen.write(lambda tx: tx.execute(sa.select(reservations)).all())
        return tuple(
            Held(row.job, row.run, row.session, Amount(row.usd_micros, row.tokens, row.requests)) for row in rows
        )

    async def forget_the_dead(self) -> int:
        """Give back what workers that are gone had set aside: nobody listens to the answers any more."""
        return await self._pen.write(self._forget)

    def _forget(self, tx: sa.Connection) -> int:
        # On SQLite one server works alone and nobody holds a lease.
        living = sa.select(leases.c.executor)
        others = reservations.c.worker != self._worker
        return tx.execute(reservations.delete().where(others, reservations.c.worker.not_in(living))).rowcount

    def _reserved(self, tx: sa.Connection, owners: Owners, wish: Wish) -> Reservation | Refusal:
        judged = may_spend(_purses(tx, owners), wish.wanted)
        if judged.answer == "wait" and self._forget(tx):  # a worker may have died since this one began
            judged = may_spend(_purses(tx, owners), wish.wanted)
        if judged.answer != "yes":
            return Refusal(judged.why, judged.whose, judged.kind, for_now=judged.answer == "wait")
        reservation = Reservation(self._ids.new("rsv"), wish)
        tx.execute(
            reservations.insert().values(
                id=reservation.id,
                worker=self._worker,
                session=owners.session,
                run=owners.run,
                job=owners.job,
                usd_micros=wish.wanted.usd_micros,
                tokens=wish.wanted.tokens,
                requests=wish.wanted.requests,
            )
        )
        return reservation


def _from(burn: MayBurn) -> str:
    return f"No request leaves before {burn.until:%H:%M}." if burn.until else "No request leaves for now."


def _purses(tx: sa.Connection, owners: Owners) -> list[Purse]:
    places = ((Whose.JOB, jobs.c.id, owners.job), (Whose.RUN, jobs.c.run, owners.run))
    found = []
    for whose, column, name in (*places, (Whose.SESSION, jobs.c.session, owners.session)):
        reserved = _summed(tx, reservations, reservations.c[whose.value] == name)
        ceilings = owners.ceilings.get(whose, Ceilings())
        found.append(Purse(whose, ceilings, _summed(tx, jobs, column == name), reserved))
    return found


def _summed(tx: sa.Connection, table: sa.Table, mine: sa.ColumnElement[bool]) -> Amount:
    columns = [sa.func.coalesce(sa.func.sum(table.c[name]), 0) for name in ("usd_micros", "tokens", "requests")]
    usd, tokens, requests = tx.execute(sa.select(*columns).where(mine)).one()
    return Amount(int(usd), int(tokens), int(requests))  # PostgreSQL sums big integers into decimals
