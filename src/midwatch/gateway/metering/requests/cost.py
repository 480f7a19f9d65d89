"""What a request can cost at most, what it did cost, and the output limit that fits what its budgets have left."""

from dataclasses import dataclass, replace
from functools import cached_property

from midwatch.gateway.metering.calls import TokenUsage
from midwatch.gateway.metering.grant import Grant
from midwatch.gateway.metering.prices import PriceList
from midwatch.gateway.metering.providers import PROVIDERS
from midwatch.gateway.metering.requests.bounds import with_limit
from midwatch.gateway.metering.requests.model_numbers import LONG_WINDOW, ModelNumbers, numbers_of
from midwatch.gateway.metering.requests.request import ModelRequest
from midwatch.rules.budget.spending import MILLION, USUAL_OUTPUT, Amount, CostBounds


@dataclass(frozen=True)
class RequestCost:
    """The cost of one request to the model of a grant."""

    grant: Grant
    prices: PriceList
    asked: ModelRequest

    def usd_micros(self, usage: TokenUsage, model: str = "") -> int:
        """Return the cost of a usage; what is paid by the month costs nothing."""
        if self.grant.credential.free or not usage.total:
            return 0
        return self.prices.usd_micros(self.grant.provider, model or self.asked.model, usage)

    @cached_property
    def numbers(self) -> ModelNumbers:
        return numbers_of(self.grant.provider, self.asked.model)

    @cached_property
    def input(self) -> int:
        """Return the tokens of the input at most: no more than the model's window holds."""
        window = self.prices.window(self.grant.provider, self.asked.model)
        if any(name == "anthropic-beta" and "context-1m" in value for name, value in self.asked.way.fields):
            window = max(window or 0, LONG_WINDOW)
        return min(self.asked.bounds.input, window) if window else self.asked.bounds.input

    @cached_property
    def limit(self) -> int:
        """Return the tokens of each answer at most: as the request says, else the most that the model makes."""
        named = self.asked.bounds.limit
        return self.numbers.output if named is None else named

    @property
    def answers(self) -> int:
        """Return the tokens of all answers at most."""
        return self.limit * self.asked.bounds.answers

    @cached_property
    def bounds(self) -> CostBounds:
        """Return what the request can be billed for; counting tokens is free."""
        if not self.asked.paid:
            return CostBounds(Amount(requests=1), Amount(requests=1))
        most, likely = self._entry(self.input), self._entry(min(self.asked.bounds.likely, self.input))
        answers = self.answers
        least = min(answers, USUAL_OUTPUT) if self._writes_limit else answers
        return CostBounds(most, likely, answers, least, self._output_price)

    def most_input(self, usage: TokenUsage) -> TokenUsage:
        """Fill in the input where the provider has not reported it: the dearest that it may have been."""
        dearest = max(self._inputs(self.input), key=self.usd_micros)
        return replace(dearest, output=usage.output, terms=usage.terms, estimated=True)

    def fitted(self, answers: int) -> "RequestCost":
        """Return the request as it is sent: with a limit for so many tokens of answers, if it needs one."""
        asked = self.asked
        limit = max(1, answers // asked.bounds.answers)
        if not asked.paid or (limit >= self.limit and not self._writes_limit):
            return self
        body = with_limit(asked.way.endpoint.api, asked.body, limit, name=self._name)
        return replace(self, asked=replace(asked, body=body, bounds=replace(asked.bounds, limit=limit)))

    @property
    def _writes_limit(self) -> bool:
        """Whether a limit is written into a request without one; a free server may take only a smaller one."""
        return self.asked.bounds.limit is None and (self.numbers.known or self._output_price > 0)

    def _entry(self, tokens: int) -> Amount:
        return Amount(max(map(self.usd_micros, self._inputs(tokens))), tokens, 1)

    @property
    def _name(self) -> str:
        """Return the name of a chat's limit: other servers know the older one, and OpenAI's models refuse it."""
        provider = self.grant.provider
        own = provider.base == PROVIDERS[provider.name].base
        chats = self.asked.way.endpoint.api == "chat"
        return "max_tokens" if chats and not own and not self.numbers.known else ""

    @cached_property
    def _output_price(self) -> int:
        """Return micro-dollars of a million tokens of output, after an input of this size."""
        usage = TokenUsage(input=self.input)
        return self.usd_micros(replace(usage, output=MILLION)) - self.usd_micros(usage)

    def _inputs(self, tokens: int) -> list[TokenUsage]:
        """Return the ways in which an input may be billed: as it is, or also as written into a cache."""
        bounds = self.asked.bounds
        written = TokenUsage(cache_write=tokens, cache_write_1h=tokens if bounds.caches_1h else 0)
        return [TokenUsage(input=tokens), *([written] if bounds.caches else [])]
