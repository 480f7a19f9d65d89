"""How urgent a notice is, and when it is sent (SPEC 9)."""

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Final

from midwatch.terms.asks import Delivery, Tier

QUIET_FROM: Final = time(22)
QUIET_UNTIL: Final = time(7)
DAILY_BUDGET: Final = 20
WARN_SHARE: Final = 0.8
BATCH_EVERY: Final = timedelta(hours=4)
ERRORS_THAT_WAKE: Final = 2


class NoticeKind(StrEnum):
    """What a notice is about."""

    SECURITY = "security"
    LOST_ISOLATION = "lost_isolation"
    LOW_RESOURCES = "low_resources"
    CRITICAL_GUIDANCE = "critical_guidance"
    SPIN_PAUSE = "spin_pause"
    ERROR = "error"
    NEEDS_INPUT = "needs_input"
    PLAN_READY = "plan_ready"
    PULL_REQUEST_READY = "pull_request_ready"
    ACT_REPORTED = "act_told"
    TIME_OUT = "time_out"
    CHECK_IN_GUIDANCE = "check_in_guidance"
    CHECK_IN_ALERT = "check_in_alert"
    CHECK_IN_COMPLETION = "check_in_completion"
    CHECK_IN_PROGRESS = "check_in_progress"
    ROUTINE = "routine"
    PROPOSAL = "proposal"
    MILESTONE = "milestone"
    REASONING = "reasoning"
    SKIP = "skip"
    SCAN = "scan"


_URGENT: Final = frozenset(
    {
        NoticeKind.SECURITY,
        NoticeKind.LOST_ISOLATION,
        NoticeKind.LOW_RESOURCES,
        NoticeKind.CRITICAL_GUIDANCE,
        NoticeKind.SPIN_PAUSE,
    }
)
_SUMMARY: Final = frozenset(
    {NoticeKind.ROUTINE, NoticeKind.PROPOSAL, NoticeKind.MILESTONE, NoticeKind.CHECK_IN_PROGRESS}
)
_LOG: Final = frozenset({NoticeKind.REASONING, NoticeKind.SKIP, NoticeKind.SCAN})


IN_CHECK_INS: Final = frozenset({NoticeKind.ACT_REPORTED, NoticeKind.PULL_REQUEST_READY, NoticeKind.ERROR})
"""Notices that ask nothing of a person; a night with rounds tells them together, unless they are urgent."""


def tier_of(kind: NoticeKind, *, errors_in_a_row: int = 0, errors_that_wake: int = ERRORS_THAT_WAKE) -> Tier:
    """Security wakes people, questions reach them, routine waits, reasoning is only kept."""
    if kind in _URGENT or (kind is NoticeKind.ERROR and errors_in_a_row > errors_that_wake):
        return Tier.URGENT
    if kind in _SUMMARY:
        return Tier.SUMMARY
    return Tier.LOG if kind in _LOG else Tier.ACTION


def brain_tier(tier: int) -> Tier:
    """A brain may lower the urgency of a notice, but not send an urgent one."""
    return Tier(max(tier, Tier.ACTION))


def is_quiet(local: datetime, *, start: time = QUIET_FROM, end: time = QUIET_UNTIL) -> bool:
    """Quiet hours are read off the person's own clock and may run over midnight."""
    now = local.time()
    if start <= end:
        return start <= now < end
    return now >= start or now < end


def quiet_ends_at(local: datetime, *, end: time = QUIET_UNTIL) -> datetime:
    """Held notices are sent when the quiet hours next end."""
    day = local.date() if local.time() < end else local.date() + timedelta(days=1)
    return datetime.combine(day, end, local.tzinfo)


def route(tier: Tier, *, quiet: bool, sent_today: int, budget: int = DAILY_BUDGET) -> Delivery:
    """Urgent notices are sent at once, despite quiet hours and budget; the rest waits."""
    if tier is Tier.URGENT:
        return Delivery.NOW
    if tier is Tier.LOG:
        return Delivery.LOG
    if sent_today >= budget:
        return Delivery.DIGEST
    if tier is Tier.SUMMARY:
        return Delivery.BATCH
    return Delivery.AFTER_QUIET if quiet else Delivery.NOW


def batch_text(items: Sequence[str]) -> str:
    """Many small notices are sent in one message."""
    word = "item" if len(items) == 1 else "items"
    return "\n".join((f"Batch update ({len(items)} {word}):", *(f"- {item}" for item in items)))
