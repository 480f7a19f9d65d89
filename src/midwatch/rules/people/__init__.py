"""Asks, notices, preflight and logins."""
