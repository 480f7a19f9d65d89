"""Shared frozen nouns: what everyone may know and nobody may change."""
