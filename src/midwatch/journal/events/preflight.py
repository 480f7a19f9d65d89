"""What was found before a night was signed: a look at all it will need, line by line."""

from typing import Literal

from midwatch.journal.events.happening import Happening
from midwatch.terms.preflight import LineState, PreflightPlan, What


class PreflightBegun(Happening):
    """Somebody wants to know whether everything is ready."""

    kind: Literal["preflight.begun"] = "preflight.begun"
    preflight: str
    session: str
    """The draft it is for; nothing where one project is looked at by itself."""
    orders_hash: str
    plan: PreflightPlan


class PreflightChecked(Happening):
    """One thing the night will need was tried."""

    kind: Literal["preflight.checked"] = "preflight.checked"
    preflight: str
    what: What
    subject: str
    """Which project, agent or channel."""
    state: LineState
    text: str
    fix: str = ""
    seconds: float = 0.0
    commit: str = ""
    """Where work would begin."""


class PreflightEnded(Happening):
    """Everything was looked at, or something broke the looking off."""

    kind: Literal["preflight.ended"] = "preflight.ended"
    preflight: str
    error: str = ""


PreflightEvent = PreflightBegun | PreflightChecked | PreflightEnded
