"""A clock that moves in steps."""

import threading
from datetime import datetime, timedelta


class SteppedClock:
    """A clock that only moves when a test moves it."""

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._moving = threading.Lock()
        """The writer's thread dates entries while a test moves on: without it, a late step could undo newer ones."""

    def now(self) -> datetime:
        """Return the time; each call adds a microsecond, so that order is visible."""
        with self._moving:
            self._now += timedelta(microseconds=1)
            return self._now

    def real_seconds(self, house_seconds: float) -> float:
        """Return zero: a test never waits."""
        return 0.0 * house_seconds

    def jump_to(self, at: datetime) -> None:
        """Move the clock forward, never back."""
        with self._moving:
            self._now = max(self._now, at)
