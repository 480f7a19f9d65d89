"""Makes the events that raise a notice for the person."""

from typing import Final

from midwatch.journal.events.session import NoticeRaised
from midwatch.ports.clock import Ids
from midwatch.rules.people.notices import IN_CHECK_INS, NoticeKind
from midwatch.terms.acts import ActKind
from midwatch.terms.asks import Tier
from midwatch.terms.projects import SessionState
from midwatch.terms.records import JobRow, SessionRow

LONGEST = 500
TOLD_TOGETHER: Final = frozenset({ActKind.START.value, ActKind.UPDATE_WORK_ITEM.value})
"""Acts on ordered work that are reported in check-ins; any other is reported by itself."""


def notice(ids: Ids, session: str, tier: Tier, text: str, *, subject: str) -> NoticeRaised:
    return NoticeRaised(notice=ids.new("ntc"), session=session, tier=tier, text=text, subject=subject)


def job_notice(ids: Ids, job: JobRow, tier: Tier, text: str, *, subject: str = "") -> NoticeRaised:
    """Raise one about a job, or about another subject in it, such as an ask."""
    return notice(ids, job.session, tier, text, subject=subject or job.id)


def in_check_in(session: SessionRow, kind: NoticeKind, tier: Tier) -> bool:
    """Whether the next check-in tells it: not where no round comes, as in a command, in a pause and after the night."""
    rounds = session.state is SessionState.AUTONOMOUS and not session.ad_hoc and not session.paused
    return rounds and kind in IN_CHECK_INS and tier is Tier.ACTION


def cut(text: str) -> str:
    """Shorten a text that an agent wrote to what fits into a notice."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
