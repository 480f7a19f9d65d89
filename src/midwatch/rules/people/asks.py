"""How long an ask waits and what silence means (RULES 2)."""

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from types import MappingProxyType
from typing import Final

from midwatch.terms.asks import APPROVE, REJECT, AskKind, Silence
from midwatch.terms.english import say
from midwatch.terms.trust import Level

_DAY: Final = 24 * 60.0

MINUTES: Final[Mapping[AskKind, float | None]] = MappingProxyType(
    {
        AskKind.APPROVE_PLAN: 20.0,
        AskKind.CONFIRM_ACT: 5.0,
        AskKind.GUIDANCE_ERROR: 15.0,
        AskKind.GUIDANCE_UNCERTAIN: 60.0,
        AskKind.QUESTION: None,
        AskKind.DECISION: None,
        AskKind.MEMORY: 7 * _DAY,
        AskKind.CONFLICT: 7 * _DAY,
        AskKind.AUTHORITY: 7 * _DAY,
        AskKind.SPEND: 60.0,
    }
)
"""How long each kind waits; None means until the end of the next day."""

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


def draft_terms(
    kind: AskKind,
    level: Level,
    *,
    inside_scopes: bool = False,
    tainted: bool = False,
    silence_approves: bool = False,
) -> tuple[float | None, Silence]:
    """Each ask says how long it waits and what silence means; a plan at full inside its scopes does not wait."""
    silence = what_silence_means(
        kind, level, inside_scopes=inside_scopes, tainted=tainted, silence_approves=silence_approves
    )
    if silence is Silence.APPROVED and level is Level.FULL:
        return 0.0, silence
    return MINUTES[kind], silence


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


GO_ON, STOP = "go on", "stop"
YES: Final = frozenset({"yes", "y", APPROVE, "approved", "ok", GO_ON})
NO: Final = frozenset({"no", "n", REJECT, "rejected", STOP})


def agrees(answer: str) -> bool:
    """Whether an answer is a yes; anything else is not."""
    return answer.strip().lower() in YES


def silence_in_words(silence: Silence) -> str:
    """What happens without an answer, as a sentence for the person."""
    return say(f"silence.{silence.value}")


def deadline_at(
    kind: AskKind, local_now: datetime, *, minutes: float | None = None, settings: Mapping[AskKind, float] | None = None
) -> datetime:
    """An ask is due after the given minutes, else the settings' number, else the rule's; questions the next day's end.

    The clock starts at `local_now`: when the ask is in the inbox and its notice was handed over or held by quiet hours.
    """
    given = minutes if minutes is not None else (settings or {}).get(kind, MINUTES[kind])
    return end_of_next_day(local_now) if given is None else _later(local_now, timedelta(minutes=given))


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
