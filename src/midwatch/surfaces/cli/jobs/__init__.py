"""Verbs about jobs: one command, follow, inspect, enter."""
