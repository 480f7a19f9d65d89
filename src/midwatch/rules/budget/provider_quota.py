"""Whether requests may still go to a provider, given the share of its limits that a person reserves (X11)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from midwatch.terms.orders import Limits

BELIEVED: Final = timedelta(hours=1)
"""How long a reading without a reset time counts: a newer one cannot be requested."""
_DIGITS: Final = 4
"""Shares are reported in per cent and computed in floats; smaller differences are noise."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a provider last said is left of one of its limits."""

    provider: str
    limit: str
    remaining: float | None
    """The share that is left, 0 to 1; None when it was not reported."""
    resets_at: datetime | None
    read_at: datetime


@dataclass(frozen=True, slots=True)
class Leave:
    """The share of every limit that a person wants left, at a given time or all night."""

    share: float
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MayBurn:
    """Whether one more request, or one more job, may use a provider; if not, why, and when it may again."""

    allowed: bool
    why: str = ""
    limit: str = ""
    until: datetime | None = None


YES: Final = MayBurn(allowed=True)


def leave_wanted(limits: Limits, since: datetime) -> Leave | None:
    """Read the reserved share from signed orders; its hour is the first after the night began, local time."""
    if not limits.leave_percent:
        return None
    share = limits.leave_percent / 100
    if limits.leave_at is None:
        return Leave(share)
    at = datetime.combine(since.date(), limits.leave_at, since.tzinfo)
    if at <= since:
        at = datetime.combine(since.date() + timedelta(days=1), limits.leave_at, since.tzinfo)
    return Leave(share, at)


def may_burn(readings: Iterable[Reading], provider: str, leave: Leave | None, now: datetime) -> MayBurn:
    """Refuse at the reserved share, unless the limit resets before the given hour or that hour has come."""
    if leave is None or (leave.at is not None and now >= leave.at):
        return YES
    binding = [one for one in readings if one.provider == provider and _binds(one, leave, now)]
    if not binding:
        return YES
    worst = min(binding, key=lambda one: (one.remaining, one.limit))
    until = max(_ends(one, leave) for one in binding).astimezone(now.tzinfo)
    return MayBurn(allowed=False, why=_why(worst, leave), limit=worst.limit, until=until)


def _binds(reading: Reading, leave: Leave, now: datetime) -> bool:
    if reading.remaining is None or round(reading.remaining, _DIGITS) > round(leave.share, _DIGITS):
        return False
    resets = reading.resets_at
    if resets is None:
        return now < reading.read_at + BELIEVED
    return now < resets and (leave.at is None or resets > leave.at)


def _ends(reading: Reading, leave: Leave) -> datetime:
    """When this reading no longer blocks requests."""
    own = reading.resets_at or reading.read_at + BELIEVED
    return own if leave.at is None else min(own, leave.at)


def _why(reading: Reading, leave: Leave) -> str:
    left = f"{(reading.remaining or 0) * 100:.0f} % of its {reading.limit} limit left"
    hour = f" for {leave.at:%H:%M}" if leave.at is not None else ""
    return f"{reading.provider.capitalize()} has {left}, and the orders keep {leave.share * 100:.0f} %{hour}."
