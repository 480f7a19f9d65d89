"""What tokens cost: from the settings, from genai-prices, and for an unknown model the highest known price."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, Decimal
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final

from midwatch.errors import Misuse
from midwatch.gateway.metering.calls import TokenUsage
from midwatch.gateway.metering.providers import Provider

MILLION: Final = 1_000_000
DEAREST: Final = 1_000_000
"""Dollars for a million tokens; a higher number is a mistaken unit."""
US_ONLY: Final = Decimal("1.1")
"""What Anthropic charges for answers made in the United States only (platform.claude.com, data residency)."""
Overrides = Mapping[str, Mapping[str, float]]
"""A model as `provider/model` or a pattern (`openai/*`, `claude-*`), and dollars for a million tokens of each kind."""


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """Millionths of a dollar for a million tokens of each kind."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_1h: int

    @classmethod
    def of(cls, model: str, table: Mapping[str, float]) -> "TokenPrice":
        """Read a price from the settings, in dollars; cached tokens cost as much as input by default."""
        names = {field.name for field in fields(cls)}
        if not {"input", "output"} <= set(table) <= names or not all(0 <= usd <= DEAREST for usd in table.values()):
            raise Misuse(
                f"The price of {model} cannot be read.",
                hint=f"Give input and output, and if they differ {', '.join(sorted(names - {'input', 'output'}))}, "
                "each in dollars for a million tokens.",
            )
        micros = {name: round(Decimal(str(usd)) * MILLION) for name, usd in table.items()}
        given = {"cache_read": micros["input"], "cache_write": micros["input"], **micros}
        return cls(**{"cache_write_1h": given["cache_write"], **given})

    def usd_micros(self, usage: TokenUsage) -> int:
        """Return the cost of so many tokens, rounded up."""
        brief = usage.cache_write - usage.cache_write_1h
        together = (
            usage.input * self.input
            + usage.output * self.output
            + usage.cache_read * self.cache_read
            + brief * self.cache_write
            + usage.cache_write_1h * self.cache_write_1h
        )
        return -(-together // MILLION)


class PriceList:
    """Knows what each model costs; an unknown model is never free."""

    def __init__(self, overrides: Overrides | None = None) -> None:
        """Take the table of the settings; an exact name overrides patterns, an earlier pattern a later one."""
        self._own: list[tuple[str, TokenPrice]] = []
        self.override(overrides or {})

    def override(self, overrides: Overrides) -> None:
        """Replace the table of the settings; nothing changes where one price is invalid."""
        read = [(pattern, TokenPrice.of(pattern, table)) for pattern, table in overrides.items()]
        self._own = sorted(read, key=lambda one: any(letter in one[0] for letter in "*?["))

    def prepare(self) -> None:
        """Load the price list now, possibly in a thread, and not during the first request."""
        _price_list().data_snapshot.get_snapshot()

    def usd_micros(self, provider: Provider, model: str, usage: TokenUsage) -> int:
        """Return the cost of a request, in millionths of a dollar, rounded up."""
        if not usage.total:
            return 0
        own = self._override(provider, model)
        if own is not None:
            return own.usd_micros(usage)
        listed = _listed(provider, model, usage)
        return listed if listed is not None else dearest(_listed_as(provider)).usd_micros(usage)

    def knows(self, provider: Provider, model: str) -> bool:
        """Return whether there is a price for exactly this model."""
        one = TokenUsage(input=1)
        return self._override(provider, model) is not None or _listed(provider, model, one) is not None

    def window(self, provider: Provider, model: str) -> int | None:
        """Return how many tokens a model takes in at most; None where that is not known."""
        listed = _model(provider, model)
        return listed.context_window if listed is not None else None

    def _override(self, provider: Provider, model: str) -> TokenPrice | None:
        names = (model, f"{provider.name}/{model}")
        return next((price for pattern, price in self._own if any(fnmatchcase(one, pattern) for one in names)), None)


@lru_cache
def dearest(listed_as: str) -> TokenPrice:
    """Return the highest price of each kind among all models of a provider."""
    kinds = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok")
    highest = dict.fromkeys(kinds, Decimal(0))
    for provider in _price_list().data_snapshot.get_snapshot().providers:
        for model in provider.models if provider.id == listed_as else ():
            for price in _all_prices(model.prices):
                for kind in kinds:
                    highest[kind] = max(highest[kind], _highest(getattr(price, kind, None)))
    if not highest["input_mtok"] or not highest["output_mtok"]:
        raise Misuse(f"No price of {listed_as} is known.", hint="Give one in the settings.")
    for kind in kinds[2:]:
        highest[kind] = max(highest[kind], highest["input_mtok"])
    return TokenPrice(*(int(highest[kind] * MILLION) for kind in kinds))


def _listed(provider: Provider, model: str, usage: TokenUsage) -> int | None:
    written = {"cache_write_1h_tokens": usage.cache_write_1h} if usage.cache_write_1h else {}
    listed = _price_list()
    counted = listed.Usage(
        input_tokens=usage.input + usage.cache_read + usage.cache_write,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        **written,
    )
    try:
        terms = {"service_tier": usage.terms} if usage.terms else None
        found = listed.calc_price(counted, model, provider_id=_listed_as(provider), price_context=terms)
    except (LookupError, ValueError):
        return None
    price: Decimal = found.total_price * (US_ONLY if usage.terms == "us" else 1)
    return int((price * MILLION).to_integral_value(ROUND_CEILING))


def _model(provider: Provider, model: str) -> Any:
    """Find a model in the list, by any of its names."""
    snapshot = _price_list().data_snapshot.get_snapshot()
    try:
        return snapshot.find_provider_model(model, None, _listed_as(provider), None)[1]
    except (LookupError, ValueError):
        return None


@lru_cache
def _price_list() -> Any:
    """Load the list when a price is first needed: it takes a third of a second, too long for a command line."""
    importlib.import_module("genai_prices.data_snapshot")
    return importlib.import_module("genai_prices")


def _listed_as(provider: Provider) -> str:
    return provider.prices or provider.name


def _all_prices(prices: Any) -> list[Any]:
    """Return every price of a model, past and present."""
    return [one.prices for one in prices] if isinstance(prices, list) else [prices]


def _highest(price: Any) -> Decimal:
    if price is None:
        return Decimal(0)
    if isinstance(price, Decimal | int | float):
        return Decimal(price)
    return Decimal(max(price.base, *(tier.price for tier in price.tiers)))
