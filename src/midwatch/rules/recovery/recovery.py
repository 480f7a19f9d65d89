"""What kind of failure it was, who must act next, and what is done: one table."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from midwatch.rules.recovery.failure_marks import Cause
from midwatch.rules.recovery.failure_texts import classify

__all__ = [
    "CAUSES",
    "OVERLOAD_WAITS",
    "Cause",
    "NextAct",
    "Remedy",
    "back_off",
    "cause_of",
    "classify",
    "next_act",
    "remedy_of",
]


class NextAct(StrEnum):
    """What to do after a failure."""

    BACK_OFF = "back_off"
    """Wait a while, then resume: the cause passes by itself."""
    WAIT = "wait"
    """Until a limit resets."""
    AGAIN = "again"
    """The same stage once more, with a report of the failure: its cause is not known yet."""
    RESTART = "restart"
    """The job is over; a brain may propose a new one that does it differently."""
    ASK = "ask"
    """Only a person can fix it, or it was tried often enough."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """One row of the table: the name of a failure, what follows, and what the agent and the person read about it."""

    act: NextAct
    words: str
    """What it was, after "failed:"."""
    differently: str
    """What the next try is asked to do."""
    person: str
    """What a person is asked to do when nothing else helps."""


_LOOK: Final = "Look at its log, then say whether to try again."

CAUSES: Final[Mapping[Cause, Remedy]] = {
    Cause.TRANSIENT: Remedy(
        NextAct.BACK_OFF,
        "a service was busy or slow",
        "Continue; if a service is still busy, do what does not need it first.",
        "See whether the service answers again.",
    ),
    Cause.NETWORK: Remedy(
        NextAct.BACK_OFF,
        "the network was unreachable",
        "Do what needs no network first; do not fetch what is in the checkout already.",
        "Fix the network or the host name, then try again.",
    ),
    Cause.LIMIT: Remedy(
        NextAct.WAIT,
        "the provider's usage limit was reached",
        "Continue where you were.",
        "Wait for the limit, or give the work to another agent.",
    ),
    Cause.DEPENDENCY: Remedy(
        NextAct.RESTART,
        "something it needs is missing",
        "First see which packages and tools are there and in which versions; use those, pin what conflicts, "
        "and if something cannot be had, do without it and say so.",
        "Install what is missing or add it to the project's setup, then try again.",
    ),
    Cause.MEMORY: Remedy(
        NextAct.RESTART,
        "it ran out of memory",
        "Use less at once: fewer parallel workers, smaller inputs, one test file after the other.",
        "Free memory or allow the job more, then try again.",
    ),
    Cause.LOGIC: Remedy(
        NextAct.RESTART,
        "the work itself is wrong",
        "Read the failure below first, find its cause, and fix that before anything else; do not repeat what failed.",
        "Look at the failure and say what should be done differently.",
    ),
    Cause.CONFLICT: Remedy(
        NextAct.RESTART,
        "it conflicts with another change",
        "Begin from the newest base and make the change again there; do not carry the old commits over.",
        "Resolve the conflict on your side, then try again.",
    ),
    Cause.AUTH: Remedy(
        NextAct.ASK,
        "permission denied",
        "Work with what you may reach; do not repeat what was refused.",
        "Fix the credential or the permission, then try again.",
    ),
    Cause.FUNDS: Remedy(
        NextAct.ASK,
        "the provider's account is empty",
        "Continue where you were.",
        "Top up the account or choose another agent, then try again.",
    ),
    Cause.TLS: Remedy(
        NextAct.ASK,
        "the other side's identity could not be verified",
        "Do not switch certificate checks off; work without that host.",
        "Check whether the certificate or host key really changed; fix or accept it, then try again.",
    ),
    Cause.MISSING: Remedy(
        NextAct.ASK,
        "what it should reach does not exist",
        "Do not look for it again; work with what is there.",
        "Give the right address, branch or name, then try again.",
    ),
    Cause.DISK: Remedy(
        NextAct.ASK,
        "the disk is full",
        "Write less: no caches, no build output you do not need.",
        "Free disk space, then try again.",
    ),
    Cause.UNKNOWN: Remedy(
        NextAct.AGAIN,
        "unknown cause",
        "Take a smaller step first and see whether it fails again.",
        _LOOK,
    ),
}
"""Every cause with what follows from it; shown in docs/SPEC.md."""

OVERLOAD_WAITS: Final = (timedelta(minutes=1), timedelta(minutes=4), timedelta(minutes=16))


def back_off(tries: int) -> timedelta:
    """How long to wait for something overloaded: a minute, then four, then sixteen."""
    return OVERLOAD_WAITS[min(max(tries, 1), len(OVERLOAD_WAITS)) - 1]


def cause_of(name: str) -> Cause:
    """Read a cause as records keep it; any other text is unknown."""
    return Cause(name) if name in set(Cause) else Cause.UNKNOWN


def remedy_of(name: str) -> Remedy:
    """Look up a recorded cause."""
    return CAUSES[cause_of(name)]


def next_act(cause: Cause, tries: int, cap: int) -> NextAct:
    """The table's act while tries are left, then a person; a limit that a provider reported is not counted."""
    return CAUSES[cause].act if tries < cap else NextAct.ASK
