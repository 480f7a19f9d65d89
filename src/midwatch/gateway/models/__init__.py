"""The way from a sandbox to a model: one proxy per job epoch, which meters, holds the ceilings and adds the secret."""

from midwatch.gateway.models.bounds import Patience, Room
from midwatch.gateway.models.calls import Call, Fuel, Usage
from midwatch.gateway.models.credentials import Credential, derived_placeholder, new_placeholder
from midwatch.gateway.models.environment import environment
from midwatch.gateway.models.ledger import Ledger, MemoryLedger
from midwatch.gateway.models.prices import Price, Prices
from midwatch.gateway.models.providers import ANTHROPIC, GEMINI, OPENAI, PROVIDERS, Provider
from midwatch.gateway.models.proxy import ModelProxy
from midwatch.gateway.models.roles import Books, Grant, Unwritten
from midwatch.gateway.models.upstream import Upstream
from midwatch.rules.reserving import Refusal, Reservation, Wish

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
