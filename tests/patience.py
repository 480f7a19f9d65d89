"""How long a test waits for something that must happen: until it happens.

The number only ends a wait for what will never come. No test measures time by it, and it is far above what the slowest
machine needs, because a number that is nearly enough fails on a busy one. pytest's own limit per test is above it.
"""

PATIENCE = 600.0
"""Seconds."""
PATIENCE_MS = 600_000
"""The same for a browser."""
