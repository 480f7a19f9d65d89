"""Rows about the signals agents sent while they worked."""

from datetime import datetime

from midwatch.terms.signals import SignalKind, SignalState
from midwatch.terms.term import Term


class SignalRow(Term):
    """One signal of one job."""

    id: str
    number: int
    """Numbered within the job."""
    job: str
    session: str
    project: str
    room: int
    """The epoch of the room it was written in."""
    says: SignalKind
    text: str
    detail: str
    options: tuple[str, ...]
    refused: str
    cause: str
    ask: str
    blob: str
    state: SignalState
    answer: str
    answered_by: str
    created_at: datetime
