"""Drivers: how each agent program is started, controlled and read."""
