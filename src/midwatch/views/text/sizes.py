"""Sizes and the short marks of isolation, for commands that must start fast: nothing heavy is imported here."""

from typing import Final

KIB: Final = 1024
UNITS: Final = ("KiB", "MiB", "GiB", "TiB")
MARKS: Final = {"bubblewrap": "walled", "landlock": "half-walled", "seatbelt": "half-walled", "none": "no walls"}


def size(count: int) -> str:
    """Write a number of bytes in a readable unit."""
    if count < KIB:
        return f"{count} bytes" if count != 1 else "1 byte"
    power = min((count.bit_length() - 1) // 10, len(UNITS))
    amount = count / KIB**power
    return f"{amount:.0f} {UNITS[power - 1]}" if amount >= 10 else f"{amount:.1f} {UNITS[power - 1]}"
