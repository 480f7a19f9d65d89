"""Counting things in words."""


def some(count: int, noun: str, plural: str = "") -> str:
    """Say how many there are: `1 file`, `2 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"
