"""Fitting the house together: the one place that knows every room and decides who plays which role."""

from midwatch.compose.house import House, Parts, database_url
from midwatch.compose.opening import open_house
from midwatch.engine.loops import going_on
from midwatch.store.side.idempotency import StoredAnswer

__all__ = ["House", "Parts", "StoredAnswer", "database_url", "going_on", "open_house"]
