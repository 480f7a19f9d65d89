"""Makes the events that raise a notice for the person."""

from midwatch.journal.events.session import NoticeRaised
from midwatch.ports.clock import Ids
from midwatch.terms.asks import Tier
from midwatch.terms.records import JobRow

LONGEST = 500


def notice(ids: Ids, session: str, tier: Tier, text: str, *, subject: str) -> NoticeRaised:
    return NoticeRaised(notice=ids.new("ntc"), session=session, tier=tier, text=text, subject=subject)


def job_notice(ids: Ids, job: JobRow, tier: Tier, text: str, *, subject: str = "") -> NoticeRaised:
    """Raise one about a job, or about another subject in it, such as an ask."""
    return notice(ids, job.session, tier, text, subject=subject or job.id)


def cut(text: str) -> str:
    """Shorten a text that an agent wrote to what fits into a notice."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
