"""Checks on fresh checkouts, and what they prove."""
