"""Shared frozen values: every package may import them, none may change them."""
