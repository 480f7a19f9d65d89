"""What must hold of a run: its jobs and its end belong together (X16)."""

from collections.abc import Sequence

from midwatch.journal.entry import Entry
from midwatch.journal.events.jobs import JobCreated, JobEnded, RunFinished
from midwatch.rules.invariants.records_seen import Found, RecordsSeen


def runs_end_together(entries: Sequence[Entry], _: RecordsSeen) -> Found:
    """A run is finished once, after the last of its jobs."""
    at_work: dict[str, set[str]] = {}
    of: dict[str, str] = {}
    for entry in entries:
        match entry.event:
            case JobCreated(job=job, run=run):
                of[job] = run
                at_work.setdefault(run, set()).add(job)
            case JobEnded(job=job):
                at_work.get(of.get(job, ""), set()).discard(job)
            case RunFinished(run=run) if at_work.get(run):
                yield f"run {run} was finished while {len(at_work[run])} of its jobs were not over", entry.seq
            case _:
                pass
