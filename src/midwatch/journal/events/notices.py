"""How notices reach the person: by which channel, when, and whether each message arrived."""

from datetime import datetime
from typing import Literal

from midwatch.journal.events.happening import Happening
from midwatch.terms.asks import Delivery


class NoticeRouted(Happening):
    """A notice was scheduled for a channel, or stays in the log only."""

    kind: Literal["notice.routed"] = "notice.routed"
    notice: str
    channel: str
    delivery: Delivery
    due_at: datetime


class PushBegun(Happening):
    """A message with these notices is being sent to a channel."""

    kind: Literal["push.begun"] = "push.begun"
    push: str
    channel: str
    notices: tuple[str, ...]
    day: str
    """The person's local day, for the daily budget."""
    counts: bool
    """Whether it counts against the day's budget; the digest does not."""
    note: str = ""
    """An extra line, such as that the day's budget is nearly used."""
    until: datetime
    """Without a result by then it is sent again."""


class PushFailed(Happening):
    """The channel refused the message; it is retried or given up."""

    kind: Literal["push.failed"] = "push.failed"
    push: str
    channel: str
    error: str
    again_at: datetime
    given_up: tuple[str, ...] = ()
    """Notices that reached their last retry."""


class AskPostponed(Happening):
    """An ask's deadline moved, or was removed: then silence no longer decides it."""

    kind: Literal["ask.postponed"] = "ask.postponed"
    ask: str
    due_at: datetime | None
    """None: it waits for a person without a deadline."""
    why: str


NoticeEvent = NoticeRouted | PushBegun | PushFailed | AskPostponed
