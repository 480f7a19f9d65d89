"""Checks once a minute that every job makes progress; one that does not, check after check, is resumed."""

from datetime import datetime, timedelta
from pathlib import Path as Folder
from typing import Final

from midwatch.journal.follows import QueuedWork, stage_work
from midwatch.night.context import WakeUps
from midwatch.ports.books import Books
from midwatch.rules.recovery.liveness import Path, must_be_resumed_by, standing_of
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import JobState
from midwatch.terms.records import AskRow, JobRow, TimerRow

PATIENCE: Final = {
    Path.STRANDED: timedelta(minutes=2),
    Path.LIVE: timedelta(minutes=2),
    Path.QUEUED: timedelta(minutes=10),
}
"""How long a job may look abandoned: between two stages it has no worker, and a queue may be long."""
Seen = tuple[str, int, int, str, str]


class Watched:
    """Remembers since when each job has looked abandoned."""

    def __init__(self, books: Books, wake_ups: WakeUps) -> None:
        self._books = books
        self._wake_ups = wake_ups
        self._since: dict[Seen, datetime] = {}

    async def stranded(self) -> tuple[QueuedWork, ...]:
        """List the work that resumes abandoned jobs; normally there is none."""
        active = tuple(state for state in JobState if not state.over)
        jobs = await self._books.records.find(JobRow, state=active)
        asks = await self._books.records.find(AskRow, state=AskState.OPEN)
        timers = await self._books.records.find(TimerRow)
        now, known, found = self._books.clock.now(), self._since, []
        self._since = {}
        for job in jobs:
            path = standing_of(job, asks, timers).path
            if not self._abandoned(job, path):
                continue
            seen = (job.id, job.epoch, job.attempt, job.stage.value, job.state.value)
            self._since[seen] = since = known.get(seen, now)
            if now - since >= PATIENCE[path]:
                found.append(_work(job))
        return tuple(found)

    def _abandoned(self, job: JobRow, path: Path) -> bool:
        """Whether no known worker has the job; jobs of another machine are checked by that machine."""
        if path is Path.STRANDED:
            return True
        ours = job.worker in {"", self._books.worker} or _gone(job.worker, self._books.worker)
        return path in PATIENCE and ours and not self._wake_ups.hangs(job.id)


def _gone(worker: str, ours: str) -> bool:
    """Whether a worker was a process of this machine that no longer exists; its name contains machine and process."""
    (machine, process, _), (here, _, _) = (name.rsplit("-", 2) for name in (worker, ours))
    return machine == here and not Folder("/proc", process).exists()


def _work(job: JobRow) -> QueuedWork:
    match must_be_resumed_by(job):
        case "stage":
            return stage_work(job.id, job.stage, job.attempt)
        case "halt":
            return QueuedWork("halt", {"job": job.id})
        case "ask":
            return QueuedWork("ask", {"job": job.id})
        case _:
            return QueuedWork("wake", {"job": job.id})
