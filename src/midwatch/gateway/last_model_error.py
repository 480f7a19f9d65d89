"""The last error of each job at its model, as the proxy saw it: agents report it badly or not at all."""

from dataclasses import dataclass, field

from midwatch.gateway.metering.calls import MeteredCall, ProviderQuota
from midwatch.ports.ledger import Reservations
from midwatch.rules.budget.reservation import Refusal, Reservation, ReservationRequest
from midwatch.rules.budget.spending import Amount
from midwatch.terms.agents import Met, Outcome

UNWANTED = frozenset({401, 403})
BUSY = 429


@dataclass(slots=True)
class LastModelErrors:
    """The last failure of each job; a later success clears it."""

    last: dict[str, Met] = field(default_factory=dict)

    def refused(self, job: str, refusal: Refusal) -> None:
        """The proxy refused to send a request."""
        if refusal.until is not None:
            self.last[job] = Met(outcome=Outcome.LIMIT, why=refusal.why, resets_at=refusal.until)
        elif not refusal.for_now:
            whose = refusal.whose.value if refusal.whose else ""
            self.last[job] = Met(outcome=Outcome.BUDGET, why=refusal.why, whose=whose)

    def answered(self, job: str, call: MeteredCall) -> None:
        if call.status in UNWANTED:
            why = f"{call.provider.capitalize()} refused the credential ({call.status})."
            self.last[job] = Met(outcome=Outcome.AUTH, why=why)
        elif call.status == BUSY or call.status >= 500 or not call.status:
            limited = self.last.get(job)
            if call.status != BUSY or limited is None or limited.outcome is not Outcome.LIMIT:
                said = f"answered {call.status}" if call.status else "did not answer"
                self.last[job] = Met(outcome=Outcome.NETWORK, why=f"{call.provider.capitalize()} {said}.")
        else:
            self.last.pop(job, None)

    def limited(self, job: str, reading: ProviderQuota) -> None:
        """The provider reported that one of its limits is used up."""
        why = f"{reading.provider.capitalize()}'s limit is used up ({reading.limit})."
        self.last[job] = Met(outcome=Outcome.LIMIT, why=why, resets_at=reading.resets_at)


class WatchedLedger:
    """A ledger of one job, whose refusals are remembered."""

    def __init__(self, ledger: Reservations, errors: LastModelErrors) -> None:
        self._ledger = ledger
        self._meetings = errors

    async def reserve(self, wish: ReservationRequest) -> Reservation | Refusal:
        answer = await self._ledger.reserve(wish)
        if isinstance(answer, Refusal):
            self._meetings.refused(wish.job, answer)
        return answer

    async def settle(self, reservation: Reservation, used: Amount) -> None:
        await self._ledger.settle(reservation, used)

    async def release(self, reservation: Reservation) -> None:
        await self._ledger.release(reservation)
