"""Counting things in words."""


def four_digits(score: float | None) -> float | None:
    """Round a score to what its parts are worth."""
    return None if score is None else round(score, 4)


def some(count: int, noun: str, plural: str = "") -> str:
    """Say how many there are: `1 file`, `2 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"
