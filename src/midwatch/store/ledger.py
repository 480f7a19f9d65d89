"""The ledger in the database: what is set aside for requests under way, beside what the journal says was spent."""

from dataclasses import dataclass
from typing import Protocol, TypeVar

import sqlalchemy as sa

from midwatch.store.pen import Pen
from midwatch.store.tables import jobs, reservations


class Amount(Protocol):
    """Money, tokens and requests."""

    @property
    def usd_micros(self) -> int: ...  # noqa: D102
    @property
    def tokens(self) -> int: ...  # noqa: D102
    @property
    def requests(self) -> int: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Standing:
    """What one owner has spent and set aside."""

    spent: tuple[int, int, int]
    reserved: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Places:
    """Whose purses a request is paid from."""

    job: str
    run: str
    session: str


V = TypeVar("V")
Answer_co = TypeVar("Answer_co", covariant=True)


class Judges(Protocol[Answer_co]):
    """Says whether the request may leave; `None` is yes."""

    def __call__(self, job: Standing, run: Standing, session: Standing) -> Answer_co | None:
        """Judge by what each owner has spent and set aside."""
        ...


class SqlReservations:
    """Reservations as rows; one writer at a time sees and changes them, on both databases."""

    def __init__(self, pen: Pen, worker: str) -> None:
        self._pen = pen
        self._worker = worker

    async def reserve(self, name: str, places: Places, wanted: Amount, judge: Judges[V]) -> V | None:
        """Set aside what is wanted if the judge lets it; else give his answer."""

        def reserved(tx: sa.Connection) -> V | None:
            refusal = judge(*(_standing(tx, column, getattr(places, column)) for column in ("job", "run", "session")))
            if refusal is None:
                tx.execute(
                    reservations.insert().values(
                        id=name,
                        worker=self._worker,
                        session=places.session,
                        run=places.run,
                        job=places.job,
                        usd_micros=wanted.usd_micros,
                        tokens=wanted.tokens,
                        requests=wanted.requests,
                    )
                )
            return refusal

        return await self._pen.write(reserved)

    async def release(self, name: str) -> None:
        """Give back what was set aside for a request that never left."""
        await self._pen.write(lambda tx: tx.execute(reservations.delete().where(reservations.c.id == name)).rowcount)

    async def forget_others(self, living: tuple[str, ...]) -> int:
        """Give back what workers that are gone had set aside: whatever they asked, nobody listens to the answer."""
        gone = reservations.delete().where(reservations.c.worker.not_in([self._worker, *living]))
        return await self._pen.write(lambda tx: tx.execute(gone).rowcount)


def _standing(tx: sa.Connection, owner: str, name: str) -> Standing:
    whose = jobs.c.id if owner == "job" else jobs.c[owner]
    return Standing(
        spent=_summed(tx, jobs, whose == name), reserved=_summed(tx, reservations, reservations.c[owner] == name)
    )


def _summed(tx: sa.Connection, table: sa.Table, mine: sa.ColumnElement[bool]) -> tuple[int, int, int]:
    columns = [sa.func.coalesce(sa.func.sum(table.c[name]), 0) for name in ("usd_micros", "tokens", "requests")]
    usd, tokens, requests = tx.execute(sa.select(*columns).where(mine)).one()
    return int(usd), int(tokens), int(requests)  # PostgreSQL sums big integers into decimals
