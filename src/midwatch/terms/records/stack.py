"""Rows about stacks."""

from datetime import datetime

from midwatch.terms.jobs import CheckResult
from midwatch.terms.stack import LeftOut, StackState, StackStep, StackVerdict
from midwatch.terms.term import Term


class StackRow(Term):
    """Branches of a night that were merged and checked together, for a person to merge as one."""

    id: str
    number: int
    session: str
    project: str
    into: str
    state: StackState
    by: str
    base: str
    tip: str
    order: tuple[StackStep, ...]
    left_out: tuple[LeftOut, ...]
    checks: tuple[CheckResult, ...]
    check_runs: int
    verdict: StackVerdict | None
    why: str
    settled_by: str
    """Who merged it or had its order posted."""
    undo: tuple[str, ...]
    due_at: datetime
    created_at: datetime
    made_at: datetime | None
    settled_at: datetime | None
