"""Conversion between UTC and the person's time zone."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from midwatch.settings.tree import Settings


def local_time(settings: Settings, at: datetime) -> datetime:
    """Show a moment on the person's clock; without a setting, on the machine's."""
    name = settings.server.time_zone
    return at.astimezone(ZoneInfo(name)) if name else at.astimezone()


def clock_of(settings: Settings) -> Callable[[datetime], datetime]:
    """Give the person's clock to code that shows moments and knows no settings."""
    return partial(local_time, settings)


def moment_of(settings: Settings, wall: datetime) -> datetime:
    """Give the moment at which the person's clock shows this; clocks may have been changed until then."""
    name = settings.server.time_zone
    bare = wall.replace(tzinfo=None)
    return bare.replace(tzinfo=ZoneInfo(name)) if name else bare.astimezone()
