"""The way from a sandbox to a model: one proxy per job epoch, which meters, holds the ceilings and adds the secret."""

from midwatch.gateway.metering.calls import Call, Fuel, Usage
from midwatch.gateway.metering.credentials import Credential, derived_placeholder, new_placeholder
from midwatch.gateway.metering.environment import environment
from midwatch.gateway.metering.grant import Books, Grant, Unwritten
from midwatch.gateway.metering.ledger import Ledger, MemoryLedger
from midwatch.gateway.metering.limits import Patience, Room
from midwatch.gateway.metering.prices import Price, Prices
from midwatch.gateway.metering.providers import ANTHROPIC, GEMINI, OPENAI, PROVIDERS, Provider
from midwatch.gateway.metering.proxy import ModelProxy
from midwatch.gateway.metering.upstream import Upstream
from midwatch.rules.budget.reservation import Refusal, Reservation, Wish

__all__ = [
    "ANTHROPIC",
    "GEMINI",
    "OPENAI",
    "PROVIDERS",
    "Books",
    "Call",
    "Credential",
    "Fuel",
    "Grant",
    "Ledger",
    "MemoryLedger",
    "ModelProxy",
    "Patience",
    "Price",
    "Prices",
    "Provider",
    "Refusal",
    "Reservation",
    "Room",
    "Unwritten",
    "Upstream",
    "Usage",
    "Wish",
    "derived_placeholder",
    "environment",
    "new_placeholder",
]
