"""The ledger: money is reserved before a request is sent, and booked when it has ended."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from midwatch.errors import Corrupt, Unknown
from midwatch.rules.budget.reservation import Held, Refusal, Reservation, ReservationRequest
from midwatch.rules.budget.spending import NOTHING, Amount, BudgetUse, Ceilings, Whose, may_spend

PATIENCE: Final = 120.0


Owner = tuple[Whose, str]


class MemoryLedger:
    """A ledger in memory, for one server; waiting requests are woken when a reservation ends."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._budgets: dict[Owner, BudgetUse] = {}
        self._owners: dict[str, tuple[Owner, ...]] = {}
        self._open: dict[str, Reservation] = {}
        self._number = 0
        self._changed = asyncio.Condition()

    def open(self, job: str, owners: Mapping[Whose, str], ceilings: Mapping[Whose, Ceilings]) -> None:
        """Add a job: which budgets it spends from, by name, and how much each holds at most."""
        self._owners[job] = tuple(owners.items())
        for owner in owners.items():
            known = self._budgets.get(owner, BudgetUse(owner[0]))
            self._budgets[owner] = replace(known, ceilings=ceilings.get(owner[0], Ceilings()))

    def budget(self, whose: Whose, name: str) -> BudgetUse:
        return self._budgets[whose, name]

    async def forget_the_dead(self) -> int:
        """Do nothing: reservations in memory ended with their server."""
        return 0

    async def held(self) -> tuple[Held, ...]:
        found = []
        for one in self._open.values():
            names = dict(self._of(one.wish.job))
            run, session = names.get(Whose.RUN, ""), names.get(Whose.SESSION, "")
            found.append(Held(one.wish.job, run, session, one.amount))
        return tuple(found)

    async def reserve(self, wish: ReservationRequest) -> Reservation | Refusal:
        answer = self._try(wish)
        if isinstance(answer, Refusal) and answer.for_now:
            try:
                async with asyncio.timeout(self._patience), self._changed:
                    while isinstance(answer := self._try(wish), Refusal) and answer.for_now:
                        await self._changed.wait()
            except TimeoutError:
                return answer
        return answer

    async def settle(self, reservation: Reservation, used: Amount) -> None:
        self._book(reservation, used)
        await self._tell()

    async def release(self, reservation: Reservation) -> None:
        self._book(reservation, NOTHING)
        await self._tell()

    def _try(self, wish: ReservationRequest) -> Reservation | Refusal:
        owners = self._of(wish.job)
        judged = may_spend((self._budgets[owner] for owner in owners), wish.bounds)
        if judged.answer != "yes":
            return Refusal(judged.why, judged.whose, judged.kind, for_now=judged.answer == "wait")
        self._number += 1
        reservation = Reservation(f"reservation-{self._number}", wish, judged.reserve, judged.answers)
        self._open[reservation.id] = reservation
        for owner in owners:
            budget = self._budgets[owner]
            self._budgets[owner] = replace(budget, reserved=budget.reserved + judged.reserve)
        return reservation

    def _book(self, reservation: Reservation, used: Amount) -> None:
        if self._open.pop(reservation.id, None) is None:
            raise Corrupt("A reservation was ended twice.", hint="This is a fault in Midwatch; report it.")
        for owner in self._of(reservation.wish.job):
            before = self._budgets[owner]
            left = before.reserved - reservation.amount
            self._budgets[owner] = replace(before, spent=before.spent + used, reserved=left)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _of(self, job: str) -> tuple[Owner, ...]:
        if job not in self._owners:
            raise Unknown("The ledger does not know this job.", hint="Open it before its model is asked.")
        return self._owners[job]
