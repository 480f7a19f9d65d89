"""When the level may be raised, and what weak isolation leaves of it (SPEC 8, 9)."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from midwatch.terms.english import reason
from midwatch.terms.report import FlagKind
from midwatch.terms.trust import Isolation, Level, Reason

HOUSEKEEPER: Final = "housekeeper"
"""The one agent no model drives."""

MOST_BY_ISOLATION: Final = {
    Isolation.NONE: Level.OBSERVE,
    Isolation.LANDLOCK: Level.CAUTIOUS,
    Isolation.SEATBELT: Level.CAUTIOUS,
    Isolation.BUBBLEWRAP: Level.FULL,
}


@dataclass(frozen=True, slots=True)
class TrackRecord:
    """The track record since the level last changed."""

    valid_rounds: int = 0
    """Rounds at observe whose proposals were valid."""
    clean_nights: int = 0
    """Nights in a row without a high-severity flag."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a higher level requires."""

    rounds_at_observe: int
    nights_per_step: int


@dataclass(frozen=True, slots=True)
class Raise:
    """Whether a level may be set, and why."""

    allowed: bool
    reasons: tuple[Reason, ...]
    forced: bool = False


def high_severity(flags: Collection[str], strengths: Collection[str]) -> bool:
    """Whether a review reports unsafe behaviour, or a wrong fact where a claim was marked strong (SPEC 11)."""
    wrong = FlagKind.WRONG_FACT.value in flags and "strong" in strengths
    return FlagKind.UNSAFE.value in flags or wrong


def may_set(
    current: Level,
    wanted: Level,
    record: TrackRecord,
    *,
    price: Price,
    forced_because: str = "",
) -> Raise:
    """A level is earned by rounds watched and clean nights, or forced by a person who says why."""
    if wanted.rank <= current.rank:
        return Raise(allowed=True, reasons=(reason("level.lowered"),))
    missing = _missing(current, wanted, record, price)
    if not missing:
        return Raise(allowed=True, reasons=(reason("level.earned", level=wanted),))
    if forced_because.strip():
        forced = reason("level.forced", level=wanted, because=forced_because.strip())
        return Raise(allowed=True, forced=True, reasons=(forced, *missing))
    return Raise(allowed=False, reasons=missing)


def _missing(current: Level, wanted: Level, record: TrackRecord, price: Price) -> tuple[Reason, ...]:
    """The first step requires rounds, each later one nights; a jump requires all its steps."""
    missing: list[Reason] = []
    if current is Level.OBSERVE and record.valid_rounds < price.rounds_at_observe:
        missing.append(reason("level.rounds_missing", needed=price.rounds_at_observe, had=record.valid_rounds))
    needed = price.nights_per_step * (wanted.rank - max(current.rank, Level.CAUTIOUS.rank))
    if record.clean_nights < needed:
        missing.append(reason("level.nights_missing", level=wanted, needed=needed, had=record.clean_nights))
    return tuple(missing)


def running_level(running: Level, standing: Level) -> Level:
    """A night runs at its signed level; a lower standing level lowers it at once, a higher one never raises it."""
    return min(running, standing, key=lambda one: one.rank)


def effective_level(level: Level, isolation: Isolation, agent: str, *, forced: bool = False) -> Level:
    """Weak walls cap what a model-driven agent may do; forcing treats no wall as a weak one, never as a strong one."""
    if agent == HOUSEKEEPER:
        return level
    walls = Isolation.LANDLOCK if forced and isolation is Isolation.NONE else isolation
    return min(level, MOST_BY_ISOLATION[walls], key=lambda one: one.rank)


def no_way_to_model(agent: str, isolation: Isolation) -> str:
    """Say why an agent cannot reach its model from inside the sandbox; empty when it can.

    A room's proxies need their own network namespace. Landlock filters ports, not hosts: a port opened for our proxy
    would be open to every host.
    """
    if isolation is Isolation.BUBBLEWRAP:
        return ""
    return f"{agent} cannot reach its model: only bubblewrap gives a room a network; this machine has {isolation}."
