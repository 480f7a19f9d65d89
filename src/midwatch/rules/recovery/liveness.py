"""Every job that is not over is running, waits for something named, or recovers; any other is stranded."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from midwatch.rules.recovery.recovery import Cause, NextAct, cause_of, remedy_of
from midwatch.rules.recovery.tries import GUIDANCE
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.records import AskRow, JobRow, TimerRow

LIMIT: Final = Cause.LIMIT.value
PLACE: Final = "place"
"""The cause of a job that waits because as many others are at work as may be."""


class Path(StrEnum):
    """Whether a job makes progress."""

    OVER = "over"
    LIVE = "live"
    """A worker runs it."""
    QUEUED = "queued"
    """Its next try is queued and has not started yet."""
    WAITS = "waits"
    """For an ask, for a limit to reset, or for a free place."""
    RECOVERS = "recovers"
    """It failed, and tries again at an hour that is set."""
    STRANDED = "stranded"


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether one job makes progress, who or what it waits for, and since or until when."""

    path: Path
    what: str
    until: datetime | None = None
    since: datetime | None = None

    def said(self, clock: Callable[[datetime], str]) -> str:
        """Say it in one line, with hours as the given clock reads them."""
        if self.until is not None:
            return f"{self.what} until {clock(self.until)}"
        return f"{self.what} since {clock(self.since)}" if self.since is not None else self.what


def standing_of(job: JobRow, asks: Iterable[AskRow], timers: Iterable[TimerRow]) -> Standing:
    """Judge a job's progress from the records alone; they do not show whether its worker is alive."""
    if job.state.over:
        return Standing(Path.OVER, job.state.value)
    if job.state is JobState.STOPPING:
        return Standing(Path.LIVE, "is stopping")
    if job.state is JobState.QUEUED:
        return Standing(Path.QUEUED, "waits for its turn", since=job.created_at if not job.epoch else None)
    if job.state is JobState.WAITING:
        return _waits(job, asks, timers)
    return Standing(Path.LIVE if job.worker else Path.STRANDED, *_at_work(job, asks))


def _at_work(job: JobRow, asks: Iterable[AskRow]) -> tuple[str, datetime | None, datetime | None]:
    held = next((ask for ask in asks if ask.subject == job.id and ask.state is AskState.OPEN), None)
    if held is not None:
        return f"running, and asks you: ask {held.number}", held.due_at, None
    return f"running {job.stage.said}", None, job.agent_began_at or job.started_at


def _waits(job: JobRow, asks: Iterable[AskRow], timers: Iterable[TimerRow]) -> Standing:
    ask = _asked(job, asks)
    if ask is not None:
        return Standing(Path.WAITS, f"waits for you: ask {ask.number}", until=ask.due_at)
    if job.cause == PLACE:
        return Standing(Path.WAITS, "waits for a free place")
    woken = next((one.due_at for one in timers if one.kind == "job" and one.subject == job.id), None)
    if woken is None:
        return Standing(Path.STRANDED, f"waits: {job.waits_for or job.stage.said}")
    if remedy_of(job.cause).act is NextAct.BACK_OFF and job.cause != LIMIT:
        return Standing(Path.RECOVERS, f"backs off, because {remedy_of(job.cause).words},", until=woken)
    named = "waits for the provider's limit" if job.cause == LIMIT else "waits"
    return Standing(Path.WAITS, named, until=woken)


def _asked(job: JobRow, asks: Iterable[AskRow]) -> AskRow | None:
    """The ask it waits for; one about a refused credential is for all that wait for it."""
    opened = [ask for ask in asks if ask.state is AskState.OPEN]
    own = [ask for ask in opened if ask.subject == job.id]
    shared = [ask for ask in opened if ask.kind in GUIDANCE and ask.session == job.session]
    return next(iter(own), next(iter(shared), None) if cause_of(job.cause) is Cause.AUTH else None)


def must_be_resumed_by(job: JobRow) -> str:
    """Name the work that gets a stranded job going again."""
    if job.state is JobState.WAITING:
        return "ask" if job.stage is Stage.APPROVE else "wake"
    return "halt" if job.state is JobState.STOPPING and (job.stage is Stage.APPROVE or job.waits_for) else "stage"
