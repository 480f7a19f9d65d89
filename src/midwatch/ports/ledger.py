"""The ledger: money is reserved before a model request leaves, and booked when it has ended."""

from typing import Protocol

from midwatch.rules.budget.reservation import Held, Refusal, Reservation, ReservationRequest
from midwatch.rules.budget.spending import Amount, Crossing


class Reservations(Protocol):
    """Reserves what a request may cost, and books what it did cost. Each call happens as a whole or not at all."""

    async def reserve(self, wish: ReservationRequest) -> Reservation | Refusal:
        """Reserve the amount, waiting a while for what others may give back; or refuse."""
        ...

    async def settle(self, reservation: Reservation, used: Amount) -> tuple[Crossing, ...]:
        """Book what was used in place of what was reserved; return which marks that reached."""
        ...

    async def release(self, reservation: Reservation) -> None:
        """Give back what was reserved for a request that never left."""
        ...


class Ledger(Reservations, Protocol):
    """Keeps what jobs, runs and sessions have spent and reserved.

    The next server gives back what a server reserved that has died since.
    """

    async def forget_the_dead(self) -> int:
        """Give back what dead servers had reserved; return for how many requests."""
        ...

    async def held(self) -> tuple[Held, ...]:
        """Return what is reserved for requests under way."""
        ...
