"""Model access of sandboxes: each gets a proxy and a placeholder; every request is reserved, booked and recorded."""

import asyncio
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from midwatch.gateway.last_model_error import LastModelErrors, WatchedLedger
from midwatch.gateway.metering import (
    Grant,
    ModelCredential,
    ModelProxy,
    PriceList,
    ProxyServices,
    Upstream,
    derived_placeholder,
)
from midwatch.gateway.metering.calls import MeteredCall, ProviderQuota
from midwatch.gateway.metering.environment import PORTS, environment
from midwatch.gateway.metering.grant import models_of
from midwatch.gateway.metering.providers import provider_of
from midwatch.gateway.metering.requests.answers_received import AnswersReceived
from midwatch.gateway.vault import Vault
from midwatch.journal.events.crew import FuelRead, ModelCalled
from midwatch.ports.clock import Clock
from midwatch.ports.journal import Journal
from midwatch.ports.ledger import Ledger
from midwatch.ports.network import HostRefused
from midwatch.terms.agents import ModelAccess

MOVED = 0.01
"""A reading is recorded when the remaining share changed by this much."""
REMEMBERED: Final = 100
"""Jobs whose answers are remembered between their attempts."""


@dataclass(frozen=True, slots=True)
class ModelProxies:
    """What the model proxies of all sandboxes share."""

    journal: Journal
    vault: Vault
    ledger: Ledger
    prices: PriceList
    upstream: Upstream
    clock: Clock
    key: bytes = field(repr=False)
    """Key of this installation, from which placeholders are derived: agents outlive the server."""
    read: dict[str, FuelRead] = field(default_factory=dict)
    errors: LastModelErrors = field(default_factory=LastModelErrors)
    received: dict[tuple[str, str], AnswersReceived] = field(default_factory=dict)
    """Of each job and address: what later attempts of the job may name of its answers."""

    async def open(self) -> None:
        """Release the reservations of servers that have died since."""
        await self.ledger.forget_the_dead()

    async def close(self) -> None:
        """Close the connections to providers, after all proxies."""
        await self.upstream.close()

    def grant(self, job: str, epoch: int, purpose: str, access: ModelAccess) -> Grant:
        """Return what one attempt may ask, of which provider, and what its program presents."""
        there = provider_of(access)
        placeholder = derived_placeholder(there, access.kind, self.key, f"{job} {purpose}")
        credential = ModelCredential(access.secret, access.kind)
        return Grant(job, epoch, there, credential, models_of(access), placeholder)

    def proxy_for(self, grant: Grant) -> "ModelProxyServer":
        books = ProxyServices(
            ledger=WatchedLedger(self.ledger, self.errors),
            vault=self.vault,
            prices=self.prices,
            clock=self.clock,
            settled=_Settling(self.journal, grant, self.errors),
            fuel=_Reading(self, grant.job),
        )
        received = self.received_by(grant)
        return ModelProxyServer(grant, ModelProxy(grant, books, self.upstream, received=received), self.prices)

    def received_by(self, grant: Grant) -> AnswersReceived:
        """Return what the job has received from this address, also in earlier attempts."""
        whose = grant.job, grant.provider.base
        received = self.received.pop(whose, None) or AnswersReceived()
        self.received[whose] = received
        while len(self.received) > REMEMBERED:
            del self.received[next(iter(self.received))]
        return received

    async def fuel(self, job: str, reading: ProviderQuota) -> None:
        """Record what the provider reports as left."""
        if reading.rejected:
            self.errors.limited(job, reading)
        now = FuelRead(
            provider=reading.provider,
            limit=reading.limit,
            remaining=reading.remaining,
            resets_at=reading.resets_at,
            rejected=reading.rejected,
        )
        name = f"{now.provider}:{now.limit}"
        if _moved(self.read.get(name), now):
            self.read[name] = now
            await self.journal.record(now)


def _moved(before: FuelRead | None, now: FuelRead) -> bool:
    if before is None or before.rejected != now.rejected or before.resets_at != now.resets_at:
        return True
    return abs((before.remaining or 0.0) - (now.remaining or 0.0)) >= MOVED


@dataclass(frozen=True, slots=True)
class _Reading:
    doors: ModelProxies
    job: str

    async def __call__(self, reading: ProviderQuota) -> None:
        await self.doors.fuel(self.job, reading)


@dataclass(frozen=True, slots=True)
class _Settling:
    journal: Journal
    grant: Grant
    errors: LastModelErrors

    async def __call__(self, call: MeteredCall) -> None:
        self.errors.answered(self.grant.job, call)
        await self.journal.record(
            ModelCalled(
                reservation=call.reservation,
                job=self.grant.job,
                epoch=self.grant.epoch,
                provider=call.provider,
                model=call.model,
                api=call.api,
                status=call.status,
                tokens=call.usage.tokens,
                usd_micros=call.usd_micros,
                estimated=call.usage.estimated,
                cut=call.cut,
                ms=call.ms,
                why=call.why,
            ),
            key=f"model:{call.reservation}",
        )


class ModelProxyServer:
    """Serves one model proxy until cancelled; every request is booked before it ends."""

    def __init__(self, grant: Grant, proxy: ModelProxy, prices: PriceList) -> None:
        self._grant = grant
        self._proxy = proxy
        self._prices = prices
        self.only_repeats = asyncio.Event()

    @property
    def ports(self) -> tuple[int, ...]:
        return (PORTS[self._grant.provider.name],)

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the variables that give programs inside their model's address and what to present."""
        return environment(self._grant)

    @property
    def lent(self) -> tuple[Path, ...]:
        return ()

    async def refused(self, clients: Sequence[str] = ()) -> tuple[HostRefused, ...]:  # noqa: ARG002  a role
        """Name no host: there is only the model's."""
        return ()

    async def serve(self, listeners: list[socket.socket]) -> None:
        """Serve until cancelled; requests wait until the prices are loaded."""
        try:
            await asyncio.to_thread(self._prices.prepare)
            async with asyncio.TaskGroup() as group:
                for listener in listeners:
                    group.create_task(self._proxy.serve(listener))
        finally:
            await asyncio.shield(self._proxy.close())
            for listener in listeners:
                listener.close()
