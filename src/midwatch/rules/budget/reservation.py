"""Words between whoever wants to spend and whoever keeps the money."""

from dataclasses import dataclass
from datetime import datetime

from midwatch.rules.budget.spending import Amount, Kind, Whose


@dataclass(frozen=True, slots=True)
class ReservationRequest:
    """A request that wants to leave, with the most it is expected to come to."""

    job: str
    epoch: int
    wanted: Amount
    provider: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Reservation:
    """What was set aside for one request."""

    id: str
    wish: ReservationRequest


@dataclass(frozen=True, slots=True)
class Held:
    """What is set aside for one request under way, and whose purses it is set aside from."""

    job: str
    run: str
    session: str
    amount: Amount


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request may not leave, and whose ceiling says so."""

    why: str
    whose: Whose | None = None
    kind: Kind | None = None
    for_now: bool = False
    """Nothing is spent for good: requests under way hold it, and did not end in time."""
    then: str = "No further request leaves until a person raises the ceiling."
    """What comes next, for whoever reads why."""
    until: datetime | None = None
    """From when on it may leave, where that is known."""
