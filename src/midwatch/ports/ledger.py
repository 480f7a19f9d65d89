"""The ledger: money is reserved before a model request is sent, and booked when it has ended."""

from typing import Protocol

from midwatch.rules.budget.reservation import Held, Refusal, Reservation, ReservationRequest
from midwatch.rules.budget.spending import Amount


class Reservations(Protocol):
    """Reserves what a request may cost, and books what it did cost. Each call is atomic."""

    async def reserve(self, wish: ReservationRequest) -> Reservation | Refusal:
        """Reserve the amount, waiting a while for other requests to release theirs; or refuse."""
        ...

    async def settle(self, reservation: Reservation, used: Amount) -> None:
        """Book the cost in place of the reservation."""
        ...

    async def release(self, reservation: Reservation) -> None:
        """Release the reservation of a request that was never sent."""
        ...


class Ledger(Reservations, Protocol):
    """Records what jobs, runs and sessions have spent and reserved.

    If a server dies, the next one releases its reservations.
    """

    async def forget_the_dead(self) -> int:
        """Release the reservations of dead servers; return how many there were."""
        ...

    async def held(self) -> tuple[Held, ...]:
        """Return the amount reserved for running requests."""
        ...
