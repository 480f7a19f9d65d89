"""What the proxy is given for one job epoch, and the roles that others play for it."""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from midwatch.errors import Corrupt
from midwatch.gateway.metering.calls import MeteredCall, ProviderQuota
from midwatch.gateway.metering.credentials import Keeps, ModelCredential
from midwatch.gateway.metering.ledger import SettingAside
from midwatch.gateway.metering.prices import PriceList
from midwatch.gateway.metering.providers import Provider
from midwatch.terms.roles import Clock

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Grant:
    """What one job epoch may ask, of whom, and by which credential."""

    job: str
    epoch: int
    provider: Provider
    credential: ModelCredential
    placeholder: str = field(repr=False)
    """What its programs present; the same after a restart of the server, since they outlive it."""


class Settled(Protocol):
    """Writes a request down; called exactly once for each that left."""

    async def __call__(self, call: MeteredCall) -> None:
        """Take one."""
        ...


class FuelSeen(Protocol):
    """Hears what the provider says is left."""

    async def __call__(self, reading: ProviderQuota) -> None:
        """Take one."""
        ...


@dataclass(frozen=True, slots=True)
class ProxyServices:
    """Everybody who must know: who keeps the money, the secrets, the prices, the time, and the records."""

    ledger: SettingAside
    vault: Keeps
    prices: PriceList
    clock: Clock
    settled: Settled
    fuel: FuelSeen


class RecordingFailed(Corrupt):
    """Something that happened could not be written down."""


async def recorded(record: Awaitable[T]) -> T:
    """Write something down; what cannot be written down must not happen, so whoever fails here ends the serving."""
    try:
        return await record
    except Exception as problem:
        raise RecordingFailed(
            "What a model was asked could not be written down, so no more is asked.", hint="Look at the database."
        ) from problem
