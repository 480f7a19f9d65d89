"""Isolation: walls around a command, its limits and its end."""
