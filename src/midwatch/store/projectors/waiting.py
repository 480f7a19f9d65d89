"""What a pause and a failure leave in a job's row."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from midwatch.store.projectors.rows import clear_timer


def box_timer_of(job: str) -> str:
    return f"box:{job}"


def rested(c: sa.Connection, now: sa.RowMapping, at: datetime) -> dict[str, object]:
    """Pause the time box: what it used so far is counted, and its timer is cleared."""
    clear_timer(c, box_timer_of(now["id"]))
    began = now["box_began_at"]
    used = max(0, int((at - began).total_seconds())) if began is not None else 0
    return {"box_began_at": None, "box_seconds": now["box_seconds"] + used}


def failures_with(now: sa.RowMapping, at: datetime, **failure: object) -> list[Any]:
    """Add one failure to a job's."""
    return [*now["failures"], {**failure, "at": at}]
