"""Counts what a model's answer has used, live from its bytes."""

from midwatch.gateway.metering.counting.usage_counter import UsageCounter

__all__ = ["UsageCounter"]
