"""The registries that this machine's package clients are set to: asked from the clients, credentials kept outside."""

from midwatch.gateway.registries.access import Inside, RegistryAccess
from midwatch.gateway.registries.book import RegistryBook

__all__ = ["Inside", "RegistryAccess", "RegistryBook"]
