"""The end of a job without commits: shown to be unneeded, or nothing delivered (RULES 10)."""

from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobEnded
from midwatch.night.notify.notice import cut, job_notice
from midwatch.ports.clock import Ids
from midwatch.rules.checks.unneeded import shown_unneeded
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.settings import Settings
from midwatch.terms.jobs import Done, Plan
from midwatch.terms.records import JobRow


def without_commits(ids: Ids, settings: Settings, job: JobRow, left: Plan | Done) -> tuple[Event, ...]:
    """End a job whose plan names no files, or whose work has no commits; only a confirmed survey is done."""
    shown = shown_unneeded(job.agent, left.survey, left.dropped if isinstance(left, Done) else ())
    if shown is not None:
        ended = JobEnded(job=job.id, epoch=job.epoch, state="done", why=left.summary, unneeded=shown.text)
        return (ended,)
    return nothing_delivered(ids, settings, job, left.summary)


def nothing_delivered(ids: Ids, settings: Settings, job: JobRow, why: str) -> tuple[Event, ...]:
    """End a job that delivers nothing, and tell the person: what was ordered is still to be done."""
    ended = JobEnded(job=job.id, epoch=job.epoch, state="nothing_delivered", why=why)
    text = f"Job {job.number} ({job.title}) delivered nothing: {cut(why)}"
    notice = job_notice(ids, job, tier_of(NoticeKind.ERROR), text)
    return (ended, notice) if settings.notices.on_error else (ended,)
