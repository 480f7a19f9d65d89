"""The steps of a job as people see them: the attempt, how long it took, how it ended."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from midwatch.terms.figures import minutes_in_words
from midwatch.terms.records import StepRow
from midwatch.terms.term import Term
from midwatch.views.text.plain import clean
from midwatch.views.text.states import STEP_ENDED

BAD: Final = frozenset({"stumbled", "failed", "lost"})


class StepShown(Term):
    """One attempt at one stage, or one wait for an approval."""

    number: int
    stage: str
    state: str
    ended: str
    """How it ended, in words."""
    good: bool
    bad: bool
    attempt: int
    worker: str
    said: str
    began_at: datetime
    ended_at: datetime | None
    took: str


def steps_shown(rows: Iterable[StepRow], now: datetime) -> tuple[StepShown, ...]:
    """Show a job's steps in the order they began."""
    return tuple(step_shown(row, now) for row in sorted(rows, key=lambda row: row.number))


def step_shown(row: StepRow, now: datetime) -> StepShown:
    return StepShown(
        number=row.number,
        stage=row.stage.said,
        state=row.state,
        ended=STEP_ENDED.get(row.state, row.state),
        good=row.state == "done",
        bad=row.state in BAD,
        attempt=row.attempt,
        worker=clean(row.worker, 60),
        # A job that ended well describes its own end.
        said="" if row.state == "done" else clean(row.said, 400),
        began_at=row.began_at,
        ended_at=row.ended_at,
        took=span_in_words((row.ended_at or now) - row.began_at),
    )


def span_in_words(length: timedelta) -> str:
    """Write how long something took, as exactly as a reader needs."""
    seconds = max(0.0, length.total_seconds())
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return minutes_in_words(length)
