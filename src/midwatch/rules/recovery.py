"""What kind of failure it was, and what to do next."""

import re
from datetime import timedelta
from enum import StrEnum
from typing import Final


class Cause(StrEnum):
    """Why something failed, by who could mend it."""

    TRANSIENT = "transient"
    DEPENDENCY = "dependency"
    AUTH = "auth"
    LOGIC = "logic"
    UNKNOWN = "unknown"


class NextStep(StrEnum):
    """What to do after a failure."""

    RETRY = "retry"
    ASK = "ask"
    GIVE_UP = "give_up"


# Order matters: a refused credential often also looks like a failed request.
_PATTERNS: Final = {
    Cause.AUTH: (
        r"\b401\b|\b403\b|unauthori[sz]ed|forbidden|invalid (api )?key|authentication|"
        r"permission denied \(publickey|token (has )?expired|not logged in"
    ),
    Cause.TRANSIENT: (
        r"\b429\b|\b50[234]\b|timed?[ -]?out|rate.?limit|overloaded|connection (reset|refused|aborted)|"
        r"temporar(y|ily)|network is unreachable|broken pipe|database is locked"
    ),
    Cause.DEPENDENCY: (
        r"modulenotfounderror|no module named|command not found|cannot find (module|package)|"
        r"could not resolve dependenc|no matching distribution|unmet peer|missing dependency|enoent"
    ),
    Cause.LOGIC: (
        r"assertionerror|\bassert\b|syntaxerror|typeerror|nameerror|attributeerror|\btests? failed|\d+ failed|"
        r"compil(e|ation) error|merge conflict"
    ),
}
_COMPILED: Final = tuple((cause, re.compile(pattern, re.IGNORECASE)) for cause, pattern in _PATTERNS.items())

_EXIT_CODES: Final = {
    75: Cause.TRANSIENT,  # EX_TEMPFAIL
    77: Cause.AUTH,  # EX_NOPERM
    124: Cause.TRANSIENT,  # timeout(1)
    126: Cause.DEPENDENCY,
    127: Cause.DEPENDENCY,
    137: Cause.TRANSIENT,  # killed, most often for memory
    143: Cause.TRANSIENT,
}


def classify(text: str, exit_code: int | None = None) -> Cause:
    """What was printed tells more than the exit code; what neither tells is unknown."""
    for cause, pattern in _COMPILED:
        if pattern.search(text):
            return cause
    return _EXIT_CODES.get(exit_code, Cause.UNKNOWN) if exit_code is not None else Cause.UNKNOWN


PAUSES: Final = (timedelta(minutes=1), timedelta(minutes=4), timedelta(minutes=16))


def back_off(tries: int) -> timedelta:
    """How long to leave a provider alone that had too much to do: a minute, then four, then sixteen."""
    return PAUSES[min(max(tries, 1), len(PAUSES)) - 1]


def next_step(cause: Cause, tries: int, cap: int = 3) -> NextStep:
    """What passes by itself is tried again; what a person must mend is asked; what never worked is given up."""
    if cause is Cause.AUTH:
        return NextStep.ASK
    if tries < cap:
        return NextStep.RETRY
    return NextStep.GIVE_UP if cause is Cause.TRANSIENT else NextStep.ASK
