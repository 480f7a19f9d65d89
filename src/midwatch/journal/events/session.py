"""What happens in a session: orders, rounds, decisions, acts, asks, notices."""

from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from midwatch.journal.events.happening import Happening
from midwatch.terms.acts import Proposal
from midwatch.terms.asks import AskDraft, Silence, Tier
from midwatch.terms.facts import Facts
from midwatch.terms.jobs import RepositoryFacts
from midwatch.terms.orders import Orders
from midwatch.terms.term import Term
from midwatch.terms.trust import Level, Verdict


class SessionOpened(Happening):
    """A briefing began; a night takes its number when it is signed. `ad_hoc` is a command, beside any night."""

    kind: Literal["session.opened"] = "session.opened"
    session: str
    orders: Orders
    source: str = ""
    ad_hoc: bool = False
    numbered: bool = False
    """Whether it took the next number at once, as drafts and commands did in older versions."""


class OrdersChanged(Happening):
    """The draft of the orders was edited before signing."""

    kind: Literal["orders.changed"] = "orders.changed"
    session: str
    orders: Orders


class OrderedItem(Term):
    """One ordered piece of work and its work item."""

    work_item: str
    project: str
    title: str


class OrdersSigned(Happening):
    """A person signed the orders. This is the one consent the night needs."""

    kind: Literal["orders.signed"] = "orders.signed"
    session: str
    orders_hash: str
    by: str
    preflight: str = ""


class SessionStarted(Happening):
    """The autonomous part began."""

    kind: Literal["session.started"] = "session.started"
    session: str
    level: Level
    ends_at: datetime
    items: tuple[OrderedItem, ...]
    repositories: tuple[RepositoryFacts, ...]


class SessionPaused(Happening):
    """The loop paused: nothing new starts, running jobs continue."""

    kind: Literal["session.paused"] = "session.paused"
    session: str
    why: str


class SessionResumed(Happening):
    """The loop continued."""

    kind: Literal["session.resumed"] = "session.resumed"
    session: str


class SessionDebriefing(Happening):
    """The autonomous part ended; the brief is next."""

    kind: Literal["session.debriefing"] = "session.debriefing"
    session: str
    reason: str


class SessionEnded(Happening):
    """The session is closed."""

    kind: Literal["session.ended"] = "session.ended"
    session: str
    reason: str


class MessageSaid(Happening):
    """A person sent a message."""

    kind: Literal["message.said"] = "message.said"
    message: str
    session: str
    by: str
    text: str


class CheckInMade(Happening):
    """The night reported its progress."""

    kind: Literal["checkin.made"] = "checkin.made"
    session: str
    type: Literal["progress", "guidance", "alert", "completion"]
    trigger: str
    text: str


class RoundCalled(Happening):
    """A round is due."""

    kind: Literal["round.called"] = "round.called"
    session: str
    number: int
    why: str


class Proposed(Term):
    """A proposal and its act's id."""

    act: str
    proposal: Proposal


class RoundPlanned(Happening):
    """The brain made its proposals."""

    kind: Literal["round.planned"] = "round.planned"
    session: str
    number: int
    brain: str
    summary: str
    sensed: dict[str, JsonValue]
    proposals: tuple[Proposed, ...]
    next_in_seconds: int


class Opinion(Term):
    """The opinion of one council voice."""

    voice: str
    stance: Literal["support", "object", "silent"]
    words: str


class CouncilSpoke(Happening):
    """The council gave its opinions on one proposal."""

    kind: Literal["council.spoke"] = "council.spoke"
    session: str
    number: int
    act: str
    opinions: tuple[Opinion, ...]
    decision: str


class ActJudged(Happening):
    """The gate gave its verdict. The facts are kept, so it can be judged again."""

    kind: Literal["act.judged"] = "act.judged"
    act: str
    session: str
    number: int
    proposal: Proposal
    facts: Facts
    verdict: Verdict


class ActEnded(Happening):
    """An act ended. `code` is the reason, where it was decided after the verdict."""

    kind: Literal["act.ended"] = "act.ended"
    act: str
    end: Literal["done", "said", "refused", "dropped", "failed"]
    text: str
    code: str = ""
    result: str = ""


class RoundEnded(Happening):
    """A round ended; `next_at` is when the next is due."""

    kind: Literal["round.ended"] = "round.ended"
    session: str
    number: int
    next_at: datetime
    error: str = ""


class AskOpened(Happening):
    """A question for a person was opened."""

    kind: Literal["ask.opened"] = "ask.opened"
    ask: str
    session: str
    draft: AskDraft
    due_at: datetime | None


class AskAnswered(Happening):
    """A person answered; the first answer counts."""

    kind: Literal["ask.answered"] = "ask.answered"
    ask: str
    answer: str
    by: str
    text: str = ""


class AskExpired(Happening):
    """The deadline passed without an answer; the stated default applies."""

    kind: Literal["ask.expired"] = "ask.expired"
    ask: str
    meant: Silence


class AskWithdrawn(Happening):
    """The ask is no longer needed."""

    kind: Literal["ask.withdrawn"] = "ask.withdrawn"
    ask: str
    why: str


class NoticeRaised(Happening):
    """A notice for a person was created."""

    kind: Literal["notice.raised"] = "notice.raised"
    notice: str
    session: str
    tier: Tier
    text: str
    subject: str = ""


class NoticeSent(Happening):
    """A channel accepted the notice."""

    kind: Literal["notice.sent"] = "notice.sent"
    notice: str
    channel: str
    push: str = ""  # the message it was part of; empty for the log, which gets each notice separately


class ToolCalled(Happening):
    """The door allowed an effect and it began."""

    kind: Literal["tool.called"] = "tool.called"
    invocation: str
    tool: str
    session: str
    run: str
    job: str
    request: dict[str, JsonValue]


class ToolFinished(Happening):
    """The effect ended, or was denied before it began."""

    kind: Literal["tool.finished"] = "tool.finished"
    invocation: str
    status: Literal["ok", "error", "timeout", "denied"]
    result: dict[str, JsonValue]
    error: str = ""


SessionEvent = (
    SessionOpened
    | OrdersChanged
    | OrdersSigned
    | SessionStarted
    | SessionPaused
    | SessionResumed
    | SessionDebriefing
    | SessionEnded
    | MessageSaid
    | CheckInMade
    | RoundCalled
    | RoundPlanned
    | CouncilSpoke
    | ActJudged
    | ActEnded
    | RoundEnded
    | AskOpened
    | AskAnswered
    | AskExpired
    | AskWithdrawn
    | NoticeRaised
    | NoticeSent
    | ToolCalled
    | ToolFinished
)
