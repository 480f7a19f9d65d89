"""What the proxy may do for one job epoch, and the services it uses."""

from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass, field
from typing import TypeVar

from midwatch.errors import Corrupt
from midwatch.gateway.metering.calls import MeteredCall, ProviderQuota
from midwatch.gateway.metering.credentials import ModelCredential
from midwatch.gateway.metering.prices import PriceList
from midwatch.gateway.metering.providers import Provider
from midwatch.ports.clock import Clock
from midwatch.ports.credentials import SecretSource
from midwatch.ports.ledger import Reservations
from midwatch.terms.agents import ModelAccess

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Grant:
    """What one job epoch may ask, of which provider, and with which credential."""

    job: str
    epoch: int
    provider: Provider
    credential: ModelCredential
    models: Container[str]
    """The models it may ask: the configured one, and those that its agent's settings list beside it."""
    placeholder: str = field(repr=False)
    """What its programs present; the same after a restart of the server, because they outlive it."""


def models_of(access: ModelAccess) -> frozenset[str]:
    """Return the models that an agent with this access may ask."""
    # Claude Code takes the ending as a wish for a longer window, and leaves it out of its requests.
    return frozenset(name.removesuffix("[1m]") for name in (access.model, *access.also))


@dataclass(frozen=True, slots=True)
class ProxyServices:
    """What the proxy uses: ledger, vault, prices, clock and the recorders."""

    ledger: Reservations
    vault: SecretSource
    prices: PriceList
    clock: Clock
    settled: Callable[[MeteredCall], Awaitable[None]]
    """Records a request; called exactly once for each that was sent."""
    fuel: Callable[[ProviderQuota], Awaitable[None]]
    """Records what the provider reports as left."""


class RecordingFailed(Corrupt):
    """An event could not be recorded."""


async def recorded(record: Awaitable[T]) -> T:
    """Record an event; a failure ends the serving, because nothing may happen unrecorded."""
    try:
        return await record
    except Exception as problem:
        raise RecordingFailed(
            "A model request could not be recorded, so no more are sent.", hint="Look at the database."
        ) from problem
