"""One request in progress: its state, and what it has used."""

from math import ceil
from time import monotonic
from typing import TYPE_CHECKING

from midwatch.gateway.metering.calls import NO_USAGE, TokenUsage
from midwatch.gateway.metering.counting import UsageCounter
from midwatch.gateway.metering.requests.cost import RequestCost
from midwatch.gateway.metering.requests.model_numbers import HANG_UP
from midwatch.gateway.metering.upstream import SendProgress

if TYPE_CHECKING:
    import httpx


class ExchangeState:
    """One request in progress."""

    def __init__(self, cost: RequestCost) -> None:
        self.cost = cost
        self.asked = asked = cost.asked
        self.progress = SendProgress()
        self.counter = UsageCounter(asked.way.endpoint.api)
        self.whole = False
        self.abandoned = False
        """Whether the answer was ended on this side: by the job, by closing the proxy, or by a time-out."""
        self.remembered = False
        """Whether later requests of the job may name its answer."""
        self.why = ""
        self.request_id = ""
        self._began = monotonic()

    def ms(self) -> int:
        """Return how long it has taken."""
        return round((monotonic() - self._began) * 1000)

    def answered(self, response: "httpx.Response") -> None:
        """Record the head of the answer."""
        fields = response.headers
        self.request_id = (fields.get("request-id") or fields.get("x-request-id") or "")[:120]
        kind, encoding = fields.get("content-type", ""), fields.get("content-encoding", "")
        self.counter = UsageCounter(self.asked.way.endpoint.api, kind, encoding)
        self.counter.served(fields.get("x-gemini-service-tier", ""))

    def usage(self) -> TokenUsage:
        """Return what was used; an error costs nothing, and an input that was not reported is estimated."""
        status = self.progress.status
        if self.progress.forsaken or (status and not 200 <= status < 300):
            return NO_USAGE
        self.counter.end()
        usage = self.counter.usage
        if not self.asked.paid:
            return usage
        abandoned = self.abandoned and not self._is_complete
        if not self.counter.reported_input:
            usage = self.cost.most_input(usage) if abandoned else usage.guessing(input=self.asked.bounds.likely)
        if abandoned and (possible := self._possible()) > usage.output:
            usage = usage.guessing(output=possible)
        return usage

    @property
    def _is_complete(self) -> bool:
        """Whether only the end of the connection was missing; of several answers, one may end before the others."""
        return self.counter.ended and self.asked.bounds.answers == 1

    def _possible(self) -> int:
        """Return what may have been produced by now: thoughts are hidden, and hanging up early must not be cheap."""
        most = self.cost.answers
        if not self.asked.streams:
            return most  # the provider makes it to its end
        seconds = monotonic() - self.progress.left_at + HANG_UP
        return min(most, ceil(seconds * self.cost.numbers.speed) * self.asked.bounds.answers)
