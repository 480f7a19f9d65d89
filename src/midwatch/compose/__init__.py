"""Builds Midwatch from its parts: the one package that imports every other and picks each port's implementation."""

from midwatch.compose.house import House, Parts, database_url
from midwatch.compose.opening import open_house
from midwatch.engine.loops import going_on
from midwatch.store.side.idempotency import StoredAnswer

__all__ = ["House", "Parts", "StoredAnswer", "database_url", "going_on", "open_house"]
