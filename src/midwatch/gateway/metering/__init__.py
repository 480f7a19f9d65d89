"""The way from a sandbox to a model: one proxy per job epoch, which meters, enforces ceilings and adds the secret."""

from midwatch.gateway.metering.calls import MeteredCall, ProviderQuota, TokenUsage
from midwatch.gateway.metering.credentials import ModelCredential, derived_placeholder, new_placeholder
from midwatch.gateway.metering.environment import environment
from midwatch.gateway.metering.grant import Grant, ProxyServices, RecordingFailed
from midwatch.gateway.metering.ledger import MemoryLedger
from midwatch.gateway.metering.limits import ProxyLimits, ProxyTimeouts
from midwatch.gateway.metering.prices import PriceList, TokenPrice
from midwatch.gateway.metering.providers import ANTHROPIC, GEMINI, OPENAI, PROVIDERS, Provider
from midwatch.gateway.metering.proxy import ModelProxy
from midwatch.gateway.metering.upstream import Upstream
from midwatch.ports.ledger import Ledger
from midwatch.rules.budget.reservation import Refusal, Reservation, ReservationRequest

__all__ = [
    "ANTHROPIC",
    "GEMINI",
    "OPENAI",
    "PROVIDERS",
    "Grant",
    "Ledger",
    "MemoryLedger",
    "MeteredCall",
    "ModelCredential",
    "ModelProxy",
    "PriceList",
    "Provider",
    "ProviderQuota",
    "ProxyLimits",
    "ProxyServices",
    "ProxyTimeouts",
    "RecordingFailed",
    "Refusal",
    "Reservation",
    "ReservationRequest",
    "TokenPrice",
    "TokenUsage",
    "Upstream",
    "derived_placeholder",
    "environment",
    "new_placeholder",
]
