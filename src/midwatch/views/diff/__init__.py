"""A git diff as values."""
