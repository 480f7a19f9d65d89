"""What happens to the time box of a job that a brain started."""

from datetime import datetime
from typing import Literal

from midwatch.journal.events.happening import Happening


class JobBoxOpened(Happening):
    """From now on the time runs in which a job must come to something."""

    kind: Literal["job.box_opened"] = "job.box_opened"
    job: str
    epoch: int
    number: int
    """Counted over all the jobs that went on with this work."""
    due_at: datetime
    """When it is warned, or, if it was warned before, stopped."""


class JobWarned(Happening):
    """A job's time box is nearly over."""

    kind: Literal["job.warned"] = "job.warned"
    job: str
    epoch: int
    minutes: float
    stop_at: datetime


class JobBoxed(Happening):
    """A job's time box is over: it stops, its work is kept, and a brain chooses whether it goes on."""

    kind: Literal["job.boxed"] = "job.boxed"
    job: str
    epoch: int
    minutes: float
    why: str


BoxEvent = JobBoxOpened | JobWarned | JobBoxed
