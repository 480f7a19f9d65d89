"""Rows about the preflights of nights."""

from datetime import datetime

from midwatch.terms.preflight import LineState, PreflightPlan, PreflightState, What
from midwatch.terms.term import Term


class PreflightRow(Term):
    """One check of everything a night will need."""

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
    """The result for one project, agent, channel or the machine."""

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
