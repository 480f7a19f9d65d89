"""When an ask is due and what silence means (SPEC 9)."""

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from types import MappingProxyType
from typing import Final

from midwatch.terms.asks import APPROVE, REJECT, AskKind, Silence, always_tools
from midwatch.terms.english import say
from midwatch.terms.trust import Level

SILENCE: Final[Mapping[AskKind, Silence]] = MappingProxyType(
    {
        AskKind.APPROVE_PLAN: Silence.WAITS,
        AskKind.CONFIRM_ACT: Silence.NOT_DONE,
        AskKind.GUIDANCE_ERROR: Silence.STOP_AND_DEBRIEF,
        AskKind.GUIDANCE_UNCERTAIN: Silence.PARKED,
        AskKind.QUESTION: Silence.TO_BRIEF,
        AskKind.DECISION: Silence.TO_BRIEF,
        AskKind.MEMORY: Silence.KEPT,
        AskKind.CONFLICT: Silence.KEPT,
        AskKind.AUTHORITY: Silence.KEPT,
        AskKind.SPEND: Silence.NO,
    }
)
"""What silence means where nothing better was signed."""


def what_silence_means(
    kind: AskKind,
    level: Level,
    *,
    inside_scopes: bool = False,
    tainted: bool = False,
    silence_approves: bool = False,
) -> Silence:
    """Silence approves a plan only where the orders say so, the scopes hold it, and it holds no untrusted text."""
    if kind is not AskKind.APPROVE_PLAN:
        return SILENCE[kind]
    trusted = inside_scopes and not tainted and level is not Level.OBSERVE
    # At full there is no wait inside the scopes, so the orders need not permit silence.
    approves = trusted and (silence_approves or level is Level.FULL)
    return Silence.APPROVED if approves else Silence.WAITS


def approved_at_once(silence: Silence, level: Level) -> bool:
    """At full, a plan that silence approves does not wait at all."""
    return silence is Silence.APPROVED and level is Level.FULL


GO_ON, STOP = "go on", "stop"
YES: Final = frozenset({"yes", "y", APPROVE, "approved", "ok", GO_ON})
NO: Final = frozenset({"no", "n", REJECT, "rejected", STOP})


def agrees(answer: str) -> bool:
    """Whether an answer is a yes; anything else is not."""
    return answer.strip().lower() in YES or bool(always_tools(answer))


def silence_in_words(silence: Silence, minutes: float | None = None) -> str:
    """What happens without an answer, and after how many minutes, as a sentence for the person."""
    words = say(f"silence.{silence.value}")
    if minutes is None:
        return words
    span = f"{minutes:g} {'minute' if minutes == 1 else 'minutes'}"
    return words.replace("do not answer", f"do not answer within {span}", 1)


def deadline_at(local_now: datetime, minutes: float | None) -> datetime:
    """Say when an ask is due; without a number of minutes, at the end of the next day.

    The minutes of each kind of ask are in the settings (`settings/people.py`, `AsksSettings`). The clock starts at
    `local_now`: when the ask is in the inbox and its notice was handed over or held by quiet hours.
    """
    return end_of_next_day(local_now) if minutes is None else _later(local_now, timedelta(minutes=minutes))


def end_of_next_day(local_now: datetime) -> datetime:
    """Questions may wait until tomorrow is over, by the person's own clock."""
    return datetime.combine(local_now.date() + timedelta(days=2), time(0), local_now.tzinfo)


def minutes_to_end_of_next_day(local_now: datetime) -> float:
    """Count the real minutes until tomorrow is over."""
    return (_stamp(end_of_next_day(local_now)) - _stamp(local_now)) / timedelta(minutes=1)


def _later(at: datetime, span: timedelta) -> datetime:
    """Add real time, not wall time, so that a changed clock shortens no deadline."""
    return at + span if at.tzinfo is None else (at.astimezone(UTC) + span).astimezone(at.tzinfo)


def _stamp(at: datetime) -> datetime:
    """Wall times of one zone subtract as if clocks never changed; UTC does not."""
    return at if at.tzinfo is None else at.astimezone(UTC)
