"""Rows about the night: sessions, rounds, acts, asks, notices, effects, waits."""

from datetime import datetime

from pydantic import JsonValue

from midwatch.terms.acts import Proposal
from midwatch.terms.asks import AskKind, AskState, Delivery, DeliveryState, PushState, Silence
from midwatch.terms.facts import Facts
from midwatch.terms.jobs import RepositoryFacts
from midwatch.terms.orders import Orders
from midwatch.terms.projects import SessionState
from midwatch.terms.term import Term
from midwatch.terms.trust import Level, Verdict


class SessionRow(Term):
    """A supervised stretch of time."""

    id: str
    number: int
    state: SessionState
    paused: bool
    why_paused: str
    orders: Orders
    ad_hoc: bool
    """Opened by one command of a person, beside any night (`midwatch code`)."""
    source: str
    level: Level
    signed_by: str
    preflight: str
    """The preflight; empty where there was none."""
    items: tuple[dict[str, str], ...]
    repositories: tuple[RepositoryFacts, ...]
    rounds: int
    round_active: bool
    round_wanted: bool
    next_round_at: datetime | None
    decisions: int
    actions: int
    reason: str
    last_check_in_at: datetime | None
    last_moved_at: datetime
    created_at: datetime
    started_at: datetime | None
    ends_at: datetime | None
    debrief_at: datetime | None
    ended_at: datetime | None

    def works(self) -> tuple[frozenset[str], ...]:
        """Return the items of each ordered work: one, or one for each repository it is for."""
        found: dict[int, set[str]] = {}
        groups = self.orders.groups()
        for place, item in enumerate(self.items):
            found.setdefault(groups[place] if place < len(groups) else place, set()).add(item["work_item"])
        return tuple(frozenset(items) for items in found.values())

    @property
    def called(self) -> str:
        """The name people read."""
        return f"{'Command' if self.ad_hoc else 'Night'} {self.number}"


class MessageRow(Term):
    """A message from a person."""

    id: str
    session: str
    by: str
    text: str
    created_at: datetime


class CheckInRow(Term):
    """A check-in of the night."""

    id: str
    session: str
    type: str
    trigger: str
    text: str
    created_at: datetime


class RoundRow(Term):
    """One pass of the loop."""

    id: str
    session: str
    number: int
    brain: str
    summary: str
    state: str
    error: str
    created_at: datetime


class ActRow(Term):
    """One proposal with its verdict and its result."""

    id: str
    number: int
    session: str
    round: int
    kind: str
    about: str
    project: str
    proposal: Proposal
    facts: Facts
    verdict: Verdict
    state: str
    code: str
    """The code of the deciding reason."""
    text: str
    result: str
    judged_seq: int
    judged_at: datetime
    ended_at: datetime | None


class PastAct(Term):
    """An act as cooldowns and spin need it: no facts, no text."""

    id: str
    number: int
    session: str
    round: int
    kind: str
    about: str
    project: str
    state: str
    code: str
    result: str
    judged_at: datetime
    ended_at: datetime | None


class DeliberationRow(Term):
    """What the council decided about one act."""

    id: str
    session: str
    round: int
    opinions: tuple[dict[str, str], ...]
    decision: str
    created_at: datetime


class AskRow(Term):
    """Something that needs a person."""

    id: str
    number: int
    session: str
    kind: AskKind
    question: str
    options: tuple[str, ...]
    recommendation: str
    rationale: str
    priority: int
    silence: Silence
    blocking: bool
    subject: str
    project: str
    shown_hash: str
    state: AskState
    answer: str
    answer_text: str
    answered_by: str
    created_at: datetime
    due_at: datetime | None
    settled_at: datetime | None


class NoticeRow(Term):
    """A notice for a person."""

    id: str
    session: str
    tier: int
    text: str
    subject: str
    sent_by: str
    """The first place it was recorded: always the log. Its deliveries have the results of the channels."""
    created_at: datetime
    sent_at: datetime | None


class DeliveryRow(Term):
    """A notice on its way to one channel."""

    id: str
    notice: str
    channel: str
    session: str
    tier: int
    delivery: Delivery
    state: DeliveryState
    due_at: datetime
    """When it is due, or when its current sender must have reported a result."""
    attempts: int
    push: str
    """The last message that contained it."""
    error: str
    created_at: datetime
    settled_at: datetime | None


class PushRow(Term):
    """One message to one channel."""

    id: str
    channel: str
    notices: tuple[str, ...]
    day: str
    """In the person's time zone."""
    counts: bool
    note: str
    state: PushState
    error: str
    created_at: datetime
    settled_at: datetime | None


class InvocationRow(Term):
    """An effect that passed through the door."""

    id: str
    tool: str
    session: str
    run: str
    job: str
    request: dict[str, JsonValue]
    status: str
    result: dict[str, JsonValue]
    error: str
    started_at: datetime
    ended_at: datetime | None


class TimerRow(Term):
    """A wait: who is woken and when."""

    id: str
    kind: str
    subject: str
    due_at: datetime
