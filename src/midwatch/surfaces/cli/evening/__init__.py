"""Verbs of the evening: projects, goals, orders, preflight."""
