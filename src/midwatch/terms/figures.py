"""Money, tokens, counts, sizes, times and lists as people read them.

In records money is always whole millionths of a dollar. Nothing heavy is imported here: commands that must start fast
and the housekeeper's program use it too.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

MICROS: Final = 1_000_000
CENT: Final = 10_000
LEAST: Final = 100
"""A smaller amount is shown as less than this, not rounded to zero."""
KIB: Final = 1024
UNITS: Final = ("KiB", "MiB", "GiB", "TiB")


def micros(usd: float) -> int:
    """Turn dollars, as orders and settings name them, into millionths."""
    return round(usd * MICROS)


def dollars(amount: int) -> str:
    if 0 < amount < LEAST:
        return "under $0.0001"
    if 0 < amount < CENT - 50:  # what would round to a cent is a cent
        return f"${amount / MICROS:.4f}"
    return f"${amount / MICROS:,.2f}".removesuffix(".00")


def many(number: int) -> str:
    """Say a large count in few characters: `9,210`, `38.2 k`, `1.49 M`."""
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if number >= 10 * size or (unit == "M" and number >= size - 500):
            return f"{_three(number / size)} {unit}"
    return f"{number:,}"


def _three(value: float) -> str:
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    said = f"{value:,.{digits}f}"
    return said.rstrip("0").rstrip(".") if "." in said else said


def four_digits(score: float | None) -> float | None:
    """Round a score to what its parts are worth."""
    return None if score is None else round(score, 4)


def some(count: int, noun: str, plural: str = "") -> str:
    """Say how many there are: `1 file`, `2 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"


def size(count: int) -> str:
    """Write a number of bytes in a readable unit."""
    if count < KIB:
        return f"{count} bytes" if count != 1 else "1 byte"
    power = min((count.bit_length() - 1) // 10, len(UNITS))
    amount = count / KIB**power
    return f"{amount:.0f} {UNITS[power - 1]}" if amount >= 10 else f"{amount:.1f} {UNITS[power - 1]}"


def span(minutes: float) -> str:
    """Write a length of time: `45 min`, `8 h`, `1 h 30 min`."""
    whole = max(1, round(minutes)) if minutes else 0
    hours, rest = divmod(whole, 60)
    said = [f"{hours} h"] * bool(hours) + [f"{rest} min"] * bool(rest or not hours)
    return " ".join(said)


def minutes_in_words(length: timedelta) -> str:
    """Write how long something took, to the minute."""
    return span(length.total_seconds() / 60)


def joined(words: Iterable[str], last: str = "and") -> str:
    """Join words as in a sentence, each once: `a`, `a and b`, `a, b and c`."""
    *before, final = dict.fromkeys(words) or ("",)
    return f"{', '.join(before)} {last} {final}" if before else final


def first_few(words: Sequence[str], most: int, mark: str = ", ") -> str:
    """Name the first few and count the rest: `a, b and 3 more`."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return mark.join(words[:most]) + more
