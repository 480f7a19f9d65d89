"""Rows about what was found before a night was signed."""

from datetime import datetime

from midwatch.terms.preflight import LineState, PreflightPlan, PreflightState, What
from midwatch.terms.term import Term


class PreflightRow(Term):
    """One look at everything a night will need."""

    id: str
    session: str
    orders_hash: str
    plan: PreflightPlan
    state: PreflightState
    look: int
    bad: int
    error: str
    asked_by: str
    created_at: datetime
    ended_at: datetime | None


class PreflightLineRow(Term):
    """What was found about one project, agent, channel or the machine."""

    id: str
    preflight: str
    what: What
    subject: str
    state: LineState
    text: str
    fix: str
    seconds: float
    commit: str
    created_at: datetime
