"""A clock that moves in steps."""

from datetime import datetime, timedelta


class SteppedClock:
    """A clock that only moves when a test moves it."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def now(self) -> datetime:
        """Return the time; each call adds a microsecond, so that order is visible."""
        self._now += timedelta(microseconds=1)
        return self._now

    def real_seconds(self, house_seconds: float) -> float:
        """Return zero: a test never waits."""
        return 0.0 * house_seconds

    def jump_to(self, at: datetime) -> None:
        """Move the clock forward, never back."""
        self._now = max(self._now, at)
