"""What providers report as left of their limits, in plain words."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from midwatch.terms.records import FuelRow
from midwatch.terms.term import Term
from midwatch.views.text.plain import clean, spaced

PAUSE: Final = "retry-after"
"""A provider that asked for a pause did not say how much is left after it."""
NEAR: Final = 0.2
"""From this share down a limit is scarce."""


CALLED: Final = {"5h": "5-hour", "five_hour": "5-hour", "7d": "7-day", "seven_day": "7-day", PAUSE: "rate"}
"""Plain names for limits whose own names are unclear."""


class Fuel(Term):
    """One limit of one provider, as last reported."""

    provider: str
    limit: str
    said: str
    left: float | None = None
    """The share, 0 to 1; nothing when it is not known or no longer valid."""
    low: bool = False
    refused: bool = False
    """The provider refuses because of it now."""
    resets_at: datetime | None = None
    """Only while it is in the future."""
    read_at: datetime


def fuel_shown(rows: Iterable[FuelRow], now: datetime) -> tuple[Fuel, ...]:
    """Show what is left, by provider, the scarcest first; a reading expires when its limit has reset."""
    shown = [_fuel(row, now) for row in rows if row.limit != PAUSE or not _reset(row, now)]
    return tuple(sorted(shown, key=lambda one: (one.provider, not one.refused, one.left is None, one.left or 0)))


def _reset(row: FuelRow, now: datetime) -> bool:
    return row.resets_at is not None and row.resets_at <= now


def _fuel(row: FuelRow, now: datetime) -> Fuel:
    reset = _reset(row, now)
    refused = row.rejected and not reset
    left = None if reset else 0.0 if refused else row.remaining
    return Fuel(
        provider=clean(row.provider, 60),
        limit=CALLED.get(row.limit, spaced(row.limit).replace("-", " ")[:60]),
        said=_said(left, reset=reset, refused=refused),
        left=left,
        low=left is not None and left <= NEAR,
        refused=refused,
        resets_at=None if reset else row.resets_at,
        read_at=row.read_at,
    )


def _said(left: float | None, *, reset: bool, refused: bool) -> str:
    if refused:
        return "refused now"
    if reset:
        return "has reset since"
    return "not known" if left is None else f"{max(0.0, min(1.0, left)) * 100:.0f} % left"
