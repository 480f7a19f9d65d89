"""One request in progress: its state, and what it has used."""

from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Final

from midwatch.gateway.metering.calls import NO_USAGE, TokenUsage
from midwatch.gateway.metering.counting import UsageCounter
from midwatch.gateway.metering.request_cost import RequestCost
from midwatch.gateway.metering.upstream import SendProgress

if TYPE_CHECKING:
    import httpx

FASTEST: Final = 200
"""Tokens that a model produces in a second, at most."""


class ExchangeState:
    """One request in progress."""

    def __init__(self, cost: RequestCost) -> None:
        self.cost = cost
        self.asked = asked = cost.asked
        self.progress = SendProgress()
        self.counter = UsageCounter(asked.way.endpoint.api)
        self.whole = False
        self.abandoned = False
        """Whether the job closed the connection."""
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

    def usage(self) -> TokenUsage:
        """Return what was used; an error costs nothing, and an input that was not reported is estimated."""
        status = self.progress.status
        if self.progress.forsaken or (status and not 200 <= status < 300):
            return NO_USAGE
        self.counter.end()
        usage = self.counter.usage
        if not self.asked.paid:
            return usage
        if not self.counter.reported_input:
            usage = usage.guessing(input=self.asked.bounds.likely)
        if self.abandoned and not usage.output:
            usage = usage.guessing(output=self._unseen())
        return usage

    def _unseen(self) -> int:
        """Estimate output that the job did not wait for: closing early must not bypass a limit."""
        seconds = monotonic() - self.progress.left_at
        return max(1, min(self.cost.answers, ceil(seconds * FASTEST)))
