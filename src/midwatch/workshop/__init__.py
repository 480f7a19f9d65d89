"""Mirrors, checkouts, the leash, quarantine and checks: everything that touches code on disk."""
