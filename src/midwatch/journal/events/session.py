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
    """A briefing began; ad hoc for one command of a person, which stands beside any night."""

    kind: Literal["session.opened"] = "session.opened"
    session: str
    orders: Orders
    source: str = ""
    ad_hoc: bool = False


class OrdersChanged(Happening):
    """The draft of the orders was edited before signing."""

    kind: Literal["orders.changed"] = "orders.changed"
    session: str
    orders: Orders


class OrderedItem(Term):
    """One ordered piece of work with the work item it stands for."""

    work_item: str
    project: str
    title: str


class OrdersSigned(Happening):
    """The person confirmed the orders: the one consent the night rests on."""

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
    """The loop holds: nothing new starts; what runs already goes on."""

    kind: Literal["session.paused"] = "session.paused"
    session: str
    why: str


class SessionResumed(Happening):
    """The loop goes on."""

    kind: Literal["session.resumed"] = "session.resumed"
    session: str


class SessionDebriefing(Happening):
    """The autonomous part is over; what is left is to tell."""

    kind: Literal["session.debriefing"] = "session.debriefing"
    session: str
    reason: str


class SessionEnded(Happening):
    """The session is closed."""

    kind: Literal["session.ended"] = "session.ended"
    session: str
    reason: str


class MessageSaid(Happening):
    """A person said something."""

    kind: Literal["message.said"] = "message.said"
    message: str
    session: str
    by: str
    text: str


class CheckInMade(Happening):
    """The night told how it stands."""

    kind: Literal["checkin.made"] = "checkin.made"
    session: str
    type: Literal["progress", "guidance", "alert", "completion"]
    trigger: str
    text: str


class RoundCalled(Happening):
    """It is time to think."""

    kind: Literal["round.called"] = "round.called"
    session: str
    number: int
    why: str


class Proposed(Term):
    """A proposal with the name it will be known by."""

    act: str
    proposal: Proposal


class RoundPlanned(Happening):
    """The brain looked at the world and proposed."""

    kind: Literal["round.planned"] = "round.planned"
    session: str
    number: int
    brain: str
    summary: str
    sensed: dict[str, JsonValue]
    proposals: tuple[Proposed, ...]
    next_in_seconds: int


class Opinion(Term):
    """What one voice of the council said."""

    voice: str
    stance: Literal["support", "object", "silent"]
    words: str


class CouncilSpoke(Happening):
    """The four voices spoke on one proposal."""

    kind: Literal["council.spoke"] = "council.spoke"
    session: str
    number: int
    act: str
    opinions: tuple[Opinion, ...]
    decision: str


class ActJudged(Happening):
    """The gate gave its verdict; the facts are kept so that it can be judged again."""

    kind: Literal["act.judged"] = "act.judged"
    act: str
    session: str
    number: int
    proposal: Proposal
    facts: Facts
    verdict: Verdict


class ActEnded(Happening):
    """An act came to its one end; `code` is the reason's, where it was decided later than the verdict."""

    kind: Literal["act.ended"] = "act.ended"
    act: str
    end: Literal["done", "said", "refused", "dropped", "failed"]
    text: str
    code: str = ""  # of the reason, where the end was decided later than the verdict
    result: str = ""


class RoundEnded(Happening):
    """The round is over; when to think next."""

    kind: Literal["round.ended"] = "round.ended"
    session: str
    number: int
    next_at: datetime
    error: str = ""


class AskOpened(Happening):
    """A person is wanted."""

    kind: Literal["ask.opened"] = "ask.opened"
    ask: str
    session: str
    draft: AskDraft
    due_at: datetime | None


class AskAnswered(Happening):
    """A person answered, first."""

    kind: Literal["ask.answered"] = "ask.answered"
    ask: str
    answer: str
    by: str
    text: str = ""


class AskExpired(Happening):
    """Nobody answered; what silence meant is carried out."""

    kind: Literal["ask.expired"] = "ask.expired"
    ask: str
    meant: Silence


class AskWithdrawn(Happening):
    """The ask is not needed any more."""

    kind: Literal["ask.withdrawn"] = "ask.withdrawn"
    ask: str
    why: str


class NoticeRaised(Happening):
    """There is something to tell a person."""

    kind: Literal["notice.raised"] = "notice.raised"
    notice: str
    session: str
    tier: Tier
    text: str
    subject: str = ""


class NoticeSent(Happening):
    """A channel took the notice."""

    kind: Literal["notice.sent"] = "notice.sent"
    notice: str
    channel: str
    push: str = ""  # in which message; nothing for the log, which takes each by itself


class ToolCalled(Happening):
    """The door let an effect begin."""

    kind: Literal["tool.called"] = "tool.called"
    invocation: str
    tool: str
    session: str
    run: str
    job: str
    request: dict[str, JsonValue]


class ToolFinished(Happening):
    """The effect is over, or was denied before it began."""

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
