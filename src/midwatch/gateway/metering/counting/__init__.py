"""Counting what an answer of a model has used, live from its bytes."""

from midwatch.gateway.metering.counting.usage_counter import Counter

__all__ = ["Counter"]
