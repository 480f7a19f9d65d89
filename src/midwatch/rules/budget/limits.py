"""When a budget warns, a check-in is due, a session ends, a round begins, a retry is due (SPEC 9)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from midwatch.terms.facts import Budget, Budgets


class CheckIn(StrEnum):
    """Why a check-in is due."""

    EVENT = "event"
    BUDGET = "budget"
    DECISIONS = "decisions"
    TIME = "time"
    KEEP_ALIVE = "keep_alive"


class SessionEnd(StrEnum):
    """Why a session ends by itself."""

    TIME = "time"
    USD = "usd"
    TOKENS = "tokens"
    ROUNDS = "rounds"
    IDLE = "idle"


@dataclass(frozen=True, slots=True)
class Pace:
    """The time between two rounds."""

    usual: timedelta
    soonest: timedelta
    latest: timedelta


@dataclass(frozen=True, slots=True)
class Signs:
    """When a night reports its state."""

    every: timedelta
    keep_alive: timedelta
    decisions: int


@dataclass(frozen=True, slots=True)
class SinceCheckIn:
    """What happened since the last check-in."""

    elapsed: timedelta
    silent_for: timedelta
    """Since the last entry a person could see."""
    decisions: int = 0
    event: bool = False
    """An escalation was handled, a job or run ended, or something failed."""
    marks: tuple[int, ...] = ()
    """Shares of a limit crossed since then."""


def marks_crossed(before: Budget, after: Budget, *, marks: Collection[int]) -> tuple[int, ...]:
    """A budget warns once at each mark, a share of its limit in per cent."""
    if after.limit is None:
        return ()
    old, new = before.taken, after.taken
    return tuple(mark for mark in sorted(marks) if old * 100 < mark * after.limit <= new * 100)


def alarming(marks: Iterable[int], *, alert_from: int) -> bool:
    """Whether a mark is high enough for an alert: the budget is nearly used up."""
    return any(mark >= alert_from for mark in marks)


def check_ins_due(since: SinceCheckIn, signs: Signs) -> tuple[CheckIn, ...]:
    """Events and budgets are reported at once, the rest at its interval; silence alone gets a sign of life."""
    due = {
        CheckIn.EVENT: since.event,
        CheckIn.BUDGET: bool(since.marks),
        CheckIn.DECISIONS: since.decisions >= signs.decisions,
        CheckIn.TIME: since.elapsed >= signs.every,
    }
    named = tuple(why for why, is_due in due.items() if is_due)
    return named or ((CheckIn.KEEP_ALIVE,) if since.silent_for >= signs.keep_alive else ())


def session_ends(
    budgets: Budgets, *, idle_for: timedelta = timedelta(0), idle_after: timedelta = timedelta.max
) -> SessionEnd | None:
    """A session ends when its time, money, tokens or rounds are spent, or when nothing happens any more."""
    spent = {
        SessionEnd.TIME: budgets.seconds,
        SessionEnd.USD: budgets.usd_micros,
        SessionEnd.TOKENS: budgets.tokens,
        SessionEnd.ROUNDS: budgets.rounds,
    }
    for why, budget in spent.items():
        # Reservations may come back; only what is really spent ends a night.
        # A budget of zero is never used up: the housekeeper costs nothing.
        if budget.limit is not None and budget.spent >= max(budget.limit, 1):
            return why
    return SessionEnd.IDLE if idle_for >= idle_after else None


def next_round_after(wish: timedelta | None, pace: Pace) -> timedelta:
    """A brain may request the time of its next round, within bounds."""
    return pace.usual if wish is None else min(pace.latest, max(pace.soonest, wish))
