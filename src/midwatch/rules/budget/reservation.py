"""Values passed between a request that costs money and the ledger."""

from dataclasses import dataclass
from datetime import datetime

from midwatch.rules.budget.spending import Amount, CostBounds, Kind, Whose


@dataclass(frozen=True, slots=True)
class ReservationRequest:
    """A request to be sent, with what it can cost."""

    job: str
    epoch: int
    bounds: CostBounds
    provider: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Reservation:
    """What was set aside for one request."""

    id: str
    wish: ReservationRequest
    amount: Amount
    answers: int
    """Tokens that its answers may have together: less than it asked for, where its budgets had less left."""


@dataclass(frozen=True, slots=True)
class Held:
    """What is set aside for one request under way, and whose budgets it is set aside from."""

    job: str
    run: str
    session: str
    amount: Amount


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request may not be sent, and whose ceiling forbids it."""

    why: str
    whose: Whose | None = None
    kind: Kind | None = None
    for_now: bool = False
    """The ceiling is not spent: requests under way hold the rest and did not end in time."""
    then: str = "No further request is sent until a person raises the ceiling."
    """What happens next, as a sentence."""
    until: datetime | None = None
    """When it may be sent, where that is known."""
