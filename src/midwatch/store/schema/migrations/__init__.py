"""Migrations, forward only; each says what it does to a running system."""
