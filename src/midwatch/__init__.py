"""Midwatch: the night watch for coding and research agents."""
