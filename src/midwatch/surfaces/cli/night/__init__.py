"""Verbs of the night: status, steering, asks."""
