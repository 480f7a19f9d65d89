"""The migrations themselves, in order."""
